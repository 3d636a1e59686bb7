/**
 * Entry where all of the program is one file: `orrery`, and under the names of the kubectl plugins, as links or copies, these.
 * In a thread it runs the part of the thread's name.
 */
import { basename } from 'node:path'
import { getAssetKeys } from 'node:sea'
import { isMainThread, threadName } from 'node:worker_threads'
import { ownParts } from '../program/parts.ts'
import type { kubectlKubestellar } from './kubestellar/program.ts'
import type { main } from './orrery/main.ts'
import { becomeTuned } from './orrery/process/tunedProcess.ts'
import { COMPLETE } from './shell/completion/scripts.ts'
import { endWithReader, processTerminal } from './shell/terminal.ts'
import type { kubectlWs } from './ws/program.ts'

const parts = ownParts(new Set(getAssetKeys()))

/** By which kubectl asks what completes a plugin's command line. */
const COMPLETING = 'kubectl_complete-'

async function run(): Promise<number> {
  const own = basename(process.argv0)
  const completes = own.startsWith(COMPLETING)
  const name = completes ? `kubectl-${own.slice(COMPLETING.length)}` : own
  const args = [...(completes ? [COMPLETE] : []), ...process.argv.slice(2)]
  if (name === 'kubectl-ws') {
    endWithReader()
    return await (parts.load('kubectlWs') as { kubectlWs: typeof kubectlWs }).kubectlWs(args, processTerminal)
  }
  if (name === 'kubectl-kubestellar') {
    endWithReader()
    const plugin = parts.load('kubectlKubestellar') as { kubectlKubestellar: typeof kubectlKubestellar }
    return await plugin.kubectlKubestellar(args, processTerminal)
  }
  becomeTuned(args)
  return await (parts.load('orrery') as { main: typeof main }).main(args)
}

if (isMainThread)
  void run().then(code => {
    process.exitCode = code
  })
else parts.load(`threads/${threadName}`)
