/** `orrery kubeconfig`: the administrator's kubeconfig, for who can run a program beside the server but no shell. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { Host } from './host.ts'

/** @throws Error in words for whoever named the folder */
export async function printKubeconfig(settings: Record<string, unknown>, host: Host): Promise<number> {
  const path = join(settings.dataDir as string, 'admin.kubeconfig')
  try {
    host.out(readFileSync(path, 'utf8').trimEnd())
    return 0
  } catch (error) {
    const remedy = 'give the --data-dir of a server that has been ready, and run as its user'
    throw new Error(`${path} cannot be read: ${messageOf(error)}; ${remedy}`, { cause: error })
  }
}
