/** All scripts, in the order in which they are played. */
import type { Script } from '../script.ts'
import { access, discovery } from './access.ts'
import { cluster } from './cluster.ts'
import { core, pods } from './core.ts'
import { customResources, definitions } from './definitions.ts'
import { lists } from './lists.ts'
import { objects } from './objects.ts'
import { serverSideApply, strategicMerge } from './patches.ts'
import { events, namespaces, podLife, scaling } from './subresources.ts'
import { workloads } from './workloads.ts'

export const scripts: readonly Script[] = [
  objects,
  lists,
  strategicMerge,
  serverSideApply,
  core,
  pods,
  workloads,
  cluster,
  podLife,
  namespaces,
  events,
  scaling,
  definitions,
  customResources,
  access,
  discovery,
]
