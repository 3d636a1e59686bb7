/** All attacks, in the order of a round. */
import type { Target } from '../target.ts'
import { patches } from './patches.ts'

export const targets: readonly Target[] = [patches]
