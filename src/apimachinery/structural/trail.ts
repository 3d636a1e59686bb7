/** The way from the root of an object to the value at hand; written as text only when somebody needs the text. */
export type Trail = Step[]
/** The name of a member, the index of an element, or the key of a map where paths show it as such. */
export type Step = string | number | { key: string }

/** `spec.containers[0].name`, behind `base`. */
export function trailText(trail: readonly Step[], base = ''): string {
  let text = base
  for (const part of trail) {
    if (typeof part === 'number') text += `[${part}]`
    else if (typeof part === 'object') text += `[${part.key}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}
