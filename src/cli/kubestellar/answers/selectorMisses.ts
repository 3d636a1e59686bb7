/** What keeps labels from matching any of some selectors: of the one that they come nearest to, wanted beside had. Pure. */
import { type LabelSelector, unmetRequirements } from '../../../apimachinery/selectors.ts'

type Labels = Readonly<Record<string, string>>

/** Empty where they match, and where there is no selector. */
export function selectorMisses(selectors: readonly LabelSelector[], labels: Labels): string[] {
  let nearest: string[] | undefined
  for (const selector of selectors) {
    const misses = unmetRequirements(selector, labels).map(
      ({ key, text }) =>
        `wants ${text}, has ${Object.hasOwn(labels, key) ? `${key}=${labels[key]}` : `no label ${key}`}`,
    )
    if (misses.length === 0) return []
    if (!nearest || misses.length < nearest.length) nearest = misses
  }
  return nearest ?? []
}
