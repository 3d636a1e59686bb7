/** What an attack is: a name, what it makes ready, and what it does while another tenant goes on working. */
import type { Ground } from './ground.ts'

export interface AttackParts {
  /** In a few words, for the table. */
  does: string
  /** Stores what the attack needs, before anything is measured. */
  prepare?(ground: Ground): Promise<void>
  /** One round. The long form repeats it until its time is over; all that a round has begun has ended when it resolves. */
  run(ground: Ground): Promise<void>
  /** Of these the attacker must hear at least one, with a Status. Left out: nothing has to be refused. */
  hears?: readonly number[]
  /** What the attack leaves behind in memory because it is stored. */
  keepsMb?: number
}

export interface Attack extends AttackParts {
  readonly name: string
}

export function attack(name: string, parts: AttackParts): Attack {
  return { name, ...parts }
}
