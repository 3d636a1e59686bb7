/** All scripts, in the order in which they are played. */
import type { Script } from '../script.ts'
import { lists } from './lists.ts'
import { objects } from './objects.ts'

export const scripts: readonly Script[] = [objects, lists]
