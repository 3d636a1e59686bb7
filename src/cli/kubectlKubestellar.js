/** Entry of `bin/kubectl-kubestellar`. */
import { keepCompiledCode } from './shell/compileCache.js'

keepCompiledCode()
const { parseJsonSafely } = await import('../apimachinery/jsonParse.ts')
parseJsonSafely()
const { endWithReader, processTerminal } = await import('./shell/terminal.ts')
const { kubectlKubestellar } = await import('./kubestellar/program.ts')
endWithReader()
process.exitCode = await kubectlKubestellar(process.argv.slice(2), processTerminal)
