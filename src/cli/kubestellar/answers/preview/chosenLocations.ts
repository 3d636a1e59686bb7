/** Which Locations an edit of an EdgePlacement's selectors would choose besides, and which no more, of those that are granted. Pure. */
import { at } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { compileSelectors } from '../../../../placement/select/selectors.ts'

/** Names in the sentence. */
const NAMED = 5

/** One sentence; `undefined` where the same ones are chosen. @param before absent: there is none yet */
export function chosenOtherwise(
  before: KubeObject | undefined,
  after: KubeObject,
  granted: readonly KubeObject[],
): string | undefined {
  const [was, will] = [chosen(before, granted), chosen(after, granted)]
  const more = [...will].filter(name => !was.has(name))
  const fewer = [...was].filter(name => !will.has(name))
  if (more.length === 0 && fewer.length === 0) return undefined
  const parts = [
    ...(more.length > 0 ? [`${named(more)} more`] : []),
    ...(fewer.length > 0 ? [`${named(fewer)} fewer`] : []),
  ]
  return `its locationSelectors would choose ${parts.join(' and ')}`
}

function chosen(placement: KubeObject | undefined, granted: readonly KubeObject[]): Set<string> {
  const { selectors } = compileSelectors(at(placement, 'spec', 'locationSelectors'), 'spec.locationSelectors')
  const rows = granted.filter(({ metadata }) => selectors.some(selector => selector.matches(metadata.labels)))
  return new Set(rows.map(({ metadata }) => metadata.name ?? ''))
}

function named(names: readonly string[]): string {
  const more = names.length > NAMED ? ', …' : ''
  return `${names.length} (${names.toSorted().slice(0, NAMED).join(', ')}${more})`
}
