/** Entry of `bin/kubectl-ws`. */
import { keepCompiledCode } from './shell/compileCache.js'

keepCompiledCode()
const { parseJsonSafely } = await import('../apimachinery/jsonParse.ts')
parseJsonSafely()
const { endWithReader, processTerminal } = await import('./shell/terminal.ts')
const { kubectlWs } = await import('./ws/program.ts')
endWithReader()
process.exitCode = await kubectlWs(process.argv.slice(2), processTerminal)
