/** All attacks, in the order of a round. */
import type { Target } from '../target.ts'
import { bodies } from './bodies.ts'
import { celWork } from './celWork.ts'
import { definitions } from './definitions.ts'
import { patches } from './patches.ts'
import { placement } from './placement.ts'
import { queries } from './queries.ts'
import { rawHttp } from './rawHttp.ts'
import { sequences } from './sequences.ts'
import { shared } from './shared.ts'
import { slowReaders } from './slowReaders.ts'
import { twoTenants } from './twoTenants.ts'
import { webSocketFrames } from './webSocketFrames.ts'
import { yamlOut } from './yamlOut.ts'

export const targets: readonly Target[] = [
  ...[patches, shared, queries, definitions, bodies, rawHttp, webSocketFrames, sequences],
  ...[celWork, yamlOut, placement, slowReaders, twoTenants],
]
