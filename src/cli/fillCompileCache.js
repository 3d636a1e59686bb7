/**
 * Loads all programs once, so that their first start finds compiled code: when the bundle is built and when a package is
 * installed. A bundle that does not load is found out here.
 */
import { flushCompileCache } from 'node:module'
import { keepCompiledCode } from './compileCache.js'

keepCompiledCode()
await Promise.all([
  import('./main.ts'),
  import('./start.ts'),
  import('./syncer.ts'),
  import('./simulateWec.ts'),
  import('./ws/terminal.ts'),
  import('./ws/program.ts'),
  import('./kubestellar/program.ts'),
  import('../client/kubeConfigLibrary.ts'),
])
flushCompileCache()
