/** `orrery kubeconfig`: the administrator's kubeconfig, for who can run a program beside the server but no shell. */
import type { Host } from './host.ts'
import { serverFile } from './process/privateFolder.ts'

/** @throws Error in words for whoever named the folder */
export async function printKubeconfig(settings: Record<string, unknown>, host: Host): Promise<number> {
  host.out(serverFile(settings.dataDir as string, 'admin.kubeconfig').trimEnd())
  return 0
}
