/** Entry of `bin/orrery`: loads only what the sub-command needs, so that the server starts fast. */
import { enableCompileCache } from 'node:module'

enableCompileCache()
const { main } = await import('./main.ts')
process.exitCode = await main(process.argv.slice(2))
