/**
 * Entry of `bin/orrery`: loads only what the sub-command needs, so that the server starts fast. Plain JavaScript on purpose:
 * all else then comes out of the compile cache, and Node need not load its TypeScript stripper (60 ms and 20 MB).
 */
import { keepCompiledCode } from './shell/compileCache.js'

keepCompiledCode()
const { parseJsonSafely } = await import('../apimachinery/jsonParse.ts')
parseJsonSafely()
const { becomeTuned } = await import('./orrery/process/tunedProcess.ts')
becomeTuned(process.argv.slice(2))
const { main } = await import('./orrery/main.ts')
process.exitCode = await main(process.argv.slice(2))
