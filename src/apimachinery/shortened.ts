/**
 * A text of bounded length for people. A refusal names the object first and its cause last, so both ends stay and the middle goes.
 */
import { oneLine } from './oneLine.ts'

/** At most so many characters. */
export function shortened(text: string, characters: number): string {
  if (text.length <= characters) return text
  const room = Math.max(characters - 1, 0)
  const head = Math.floor(room / 3)
  // a cut may part two halves of one character
  return `${text.slice(0, head)}…${text.slice(text.length - (room - head))}`.toWellFormed().slice(0, characters)
}

/** The same of what another program says, on one line. */
export function shortLine(words: string, characters: number): string {
  return shortened(oneLine(shortened(words, 4 * characters)), characters)
}
