/** Tolerations of two sources in one list, as Kubernetes' scheduling library merges them. */
import { type Fields, str } from '../../apimachinery/fields.ts'
import { sameMeaning } from '../../apimachinery/values.ts'

/** Both, in their order, without those that another one covers. Of equal ones the first stays. */
export function mergeTolerations(first: readonly Fields[], second: readonly Fields[]): Fields[] {
  const all = [...first, ...second]
  const merged: Fields[] = []
  all.forEach((toleration, i) => {
    const isCovered =
      merged.some(kept => covers(kept, toleration)) ||
      all.slice(i + 1).some(later => !sameMeaning(toleration, later) && covers(later, toleration))
    if (!isCovered) merged.push(toleration)
  })
  return merged
}

/** Whether whatever `inner` tolerates, `outer` does too, and for as long. */
function covers(outer: Fields, inner: Fields): boolean {
  if (sameMeaning(outer, inner)) return true
  const exists = str(outer, 'operator') === 'Exists'
  const [key, effect] = [str(outer, 'key'), str(outer, 'effect')]
  if (str(inner, 'key') !== key && (key !== '' || !exists)) return false
  if (str(inner, 'effect') !== effect && effect !== '') return false
  if (effect === 'NoExecute' && secondsOf(inner) > secondsOf(outer)) return false
  if (exists) return true
  const isEqual = ['', 'Equal'].includes(str(outer, 'operator'))
  return isEqual && str(inner, 'operator') === 'Equal' && str(inner, 'value') === str(outer, 'value')
}

/** How long a Pod stays; without a number, for ever. */
function secondsOf({ tolerationSeconds }: Fields): number {
  return typeof tolerationSeconds === 'number' ? tolerationSeconds : Number.POSITIVE_INFINITY
}
