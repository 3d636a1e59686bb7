/** All attacks, by what they attack with. */
import type { Attack } from '../attack.ts'
import { bodies } from './bodies.ts'
import { cel } from './cel.ts'
import { chains } from './chains.ts'
import { connections } from './connections.ts'
import { conversions } from './conversions.ts'
import { counts } from './counts.ts'
import { crowds } from './crowds.ts'
import { definitions } from './definitions.ts'
import { host } from './host.ts'
import { placement } from './placement.ts'
import { reads } from './reads.ts'
import { references } from './references.ts'
import { spaces } from './spaces.ts'
import { webhooks } from './webhooks.ts'
import { writes } from './writes.ts'
import { yaml } from './yaml.ts'

export const families: Readonly<Record<string, readonly Attack[]>> = {
  cel,
  definitions,
  reads,
  yaml,
  bodies,
  writes,
  references,
  counts,
  placement,
  crowds,
  webhooks,
  conversions,
  connections,
  chains,
  spaces,
  host,
}

export function attacksOf(family: string): readonly Attack[] {
  return families[family] ?? []
}
