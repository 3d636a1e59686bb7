/** Keys that are not accepted, because others' could be mistaken for them: those with a backslash. See `jsonParse.ts`. */

import { statusError } from './errors.ts'
import { mistakableKeyIn } from './jsonParse.ts'

const SHOWN_CHARACTERS = 100

export function mistakableKeyWords(key: string): string {
  return `the key ${JSON.stringify(key.slice(0, SHOWN_CHARACTERS))} has a backslash; such keys are not accepted: use another character`
}

/** `from`: what is before is passed over. @throws StatusError BadRequest */
export function refuseMistakableKeys(json: string, from = 0): void {
  const key = mistakableKeyIn(json, from)
  if (key !== undefined) throw statusError.badRequest(mistakableKeyWords(key))
}
