/** An attack: a name, its preparation, and its work while another tenant goes on. */
import type { Ground } from './ground.ts'

export interface AttackParts {
  /** In a few words, for the table. */
  does: string
  /** Stores what the attack needs, before anything is measured. */
  prepare?(ground: Ground): Promise<void>
  /** One round. The long form repeats it until its time is over; all that a round has begun has ended when it resolves. */
  run(ground: Ground): Promise<void>
  /** The attacker must get at least one of these, with a Status. Left out: nothing has to be refused. */
  hears?: readonly number[]
  /** Memory of the attack's stored objects. */
  keepsMb?: number
}

export interface Attack extends AttackParts {
  readonly name: string
}

export function attack(name: string, parts: AttackParts): Attack {
  return { name, ...parts }
}
