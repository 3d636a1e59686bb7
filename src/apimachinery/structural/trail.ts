/** The way from the root of an object to the value at hand; written as text only when somebody needs the text. */
export type Trail = (string | number)[]

/** `spec.containers[0].name`, behind `base`. */
export function trailText(trail: readonly (string | number)[], base = ''): string {
  let text = base
  for (const part of trail) {
    if (typeof part === 'number') text += `[${part}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}
