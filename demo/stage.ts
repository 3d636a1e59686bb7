/** Stage of the demo: a server, clusters, and a user at a keyboard. */
import type { Observer } from './observer.ts'
import type { Shell } from './shell.ts'

export interface Stage {
  shell: Shell
  print(text: string): void
  title(text: string): void
  dir: string
  /** The user's kubeconfig for the server. */
  kubeconfig: string
  clusterKubeconfig(name: string): string
  /** Events in each cluster. */
  clusters: ReadonlyMap<string, Observer>
  observeSpace(space: string): Promise<Observer>
  startSyncer(name: string, fromKubeconfig: string): Promise<void>
  /** Its cluster is silent from then on. */
  stopSyncer(name: string): Promise<void>
}
