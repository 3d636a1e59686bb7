/** Colours for people: on a terminal, unless they ask for none (no-color.org). */
import { styleText } from 'node:util'

const STYLES = {
  title: 'bold',
  center: 'cyan',
  cluster: 'magenta',
  command: 'bold',
  good: 'green',
  bad: 'red',
} as const

export type Paint = (what: keyof typeof STYLES, text: string) => string

/** `styleText` asks the stream whether it is a terminal, and the environment for NO_COLOR and FORCE_COLOR. */
export function painter(stream: NodeJS.WriteStream): Paint {
  return (what, text) => styleText(STYLES[what], text, { stream })
}
