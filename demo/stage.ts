/** What the demo plays on: a server, clusters, and somebody at a keyboard. */
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
  /** What happens in each cluster. */
  clusters: ReadonlyMap<string, Observer>
  observeSpace(space: string): Promise<Observer>
  startSyncer(name: string, fromKubeconfig: string): Promise<void>
  /** Nothing is heard of its cluster from then on. */
  stopSyncer(name: string): Promise<void>
}
