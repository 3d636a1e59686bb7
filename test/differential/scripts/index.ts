/** All scripts, in the order in which they are played. */
import type { Script } from '../script.ts'
import { cluster } from './cluster.ts'
import { core, pods } from './core.ts'
import { lists } from './lists.ts'
import { objects } from './objects.ts'
import { serverSideApply, strategicMerge } from './patches.ts'
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
]
