/** Tolerations of two sources in one list, as Kubernetes' scheduling library merges them. */
import { type Fields, str } from '../../apimachinery/fields.ts'

/** Both, in their order, without those that another one covers. Among equal ones the first stays. */
export function mergeTolerations(first: readonly Fields[], second: readonly Fields[]): Fields[] {
  const all = formsOf([...first, ...second])
  // One look for each, not one for each pair: a Pod may have as many as a request holds.
  const furthest = new Map<string, number>()
  for (const { sort, reach } of all) furthest.set(sort, Math.max(reach, furthest.get(sort) ?? reach))
  return all.filter(form => !isCovered(form, furthest)).map(({ toleration }) => toleration)
}

const NO_EXECUTE = 'NoExecute'

/** Significant parts of a toleration beside its time. */
type Parts = readonly [key: string, effect: string, operator: string, value: string]

interface Form {
  toleration: Fields
  parts: Parts
  sort: string
  /** Among those of one sort, the one that reaches further covers the other: the one of the longer time, else the later one. */
  reach: number
}

/** Each once. */
function formsOf(tolerations: readonly Fields[]): Form[] {
  const forms = new Map<string, Form>()
  for (const [i, toleration] of tolerations.entries()) {
    const [key, effect, operator, value] = ['key', 'effect', 'operator', 'value'].map(m => str(toleration, m)) as Four
    const parts: Parts = [key, effect, operator, operator === 'Exists' ? '' : value]
    const reach = effect === NO_EXECUTE ? secondsOf(toleration) : i
    const identity = JSON.stringify([...parts, value, toleration.tolerationSeconds])
    forms.set(identity, {
      toleration: forms.get(identity)?.toleration ?? toleration,
      parts,
      sort: sortOf(parts),
      reach,
    })
  }
  return [...forms.values()]
}
type Four = [string, string, string, string]

/** Whether others tolerate whatever it does, and for as long. */
function isCovered(
  { parts: [key, effect, operator, value], sort, reach }: Form,
  furthest: ReadonlyMap<string, number>,
) {
  const wider: Parts[] = [effect, ''].flatMap(outer => [
    [key, outer, 'Exists', ''],
    ['', outer, 'Exists', ''],
    ...(operator === 'Equal' ? (['Equal', ''] as const).map((same): Parts => [key, outer, same, value]) : []),
  ])
  return wider.some(parts => {
    const other = sortOf(parts)
    const found = furthest.get(other)
    if (found === undefined) return false
    return other === sort ? found > reach : parts[1] !== NO_EXECUTE || found >= reach
  })
}

function sortOf(parts: Parts): string {
  return JSON.stringify(parts)
}

/** How long a Pod stays; without a number, for ever. */
function secondsOf({ tolerationSeconds }: Fields): number {
  return typeof tolerationSeconds === 'number' ? tolerationSeconds : Number.POSITIVE_INFINITY
}
