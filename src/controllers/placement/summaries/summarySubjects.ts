/**
 * Subjects of summaries: each object and placement that collects its status, and each placement and collector of what clusters carry up.
 * They follow from the placements of a space; nothing of them is kept.
 */
import type { AnswerName } from '../../../placement/desks/answered.ts'
import { collectorsOf, type PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { type Subject, subjectName } from '../../../placement/summary/combinedStatus.ts'
import { namespaceKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Collectors, UsedCollector } from './collectors.ts'

/** One summary, with all that its answer needs. */
export interface Summarized {
  readonly space: string
  readonly spec: PlacementSpec
  readonly subject: Subject
  /** Where it is about one object. */
  readonly fact: ObjectFact | undefined
  readonly collectors: readonly UsedCollector[]
}

export class SummarySubjects {
  readonly #join: PlacementJoin
  readonly #collectors: Collectors

  constructor(join: PlacementJoin, collectors: Collectors) {
    this.#join = join
    this.#collectors = collectors
  }

  /** Placements of a space that name collectors. */
  *collecting(space: string): Generator<string> {
    for (const name of this.#join.placementNames(space))
      if ((this.#join.spec(space, name)?.collectors.length ?? 0) > 0) yield name
  }

  *of(space: string): Generator<Summarized> {
    const workload = this.#join.workload(space)
    for (const placement of this.collecting(space)) {
      for (const key of workload.namedBy(placement)) {
        const found = this.#ofObject(space, placement, key)
        if (found) yield found
      }
      for (const collector of this.#join.spec(space, placement)!.carriedCollectors.keys()) {
        const found = this.#ofCarried(space, placement, collector)
        if (found) yield found
      }
    }
  }

  ofFact(space: string, placement: string, { key, uid }: ObjectFact): Subject {
    return { placement, placementUid: this.#join.spec(space, placement)?.uid ?? '', key, uid }
  }

  /** The only one that may have this name. */
  named(space: string, name: string): Subject | undefined {
    const [first, collector] = name.split(':')
    if (collector !== undefined) return { placement: first!, collector }
    const workload = this.#join.workload(space)
    for (const placement of this.collecting(space)) {
      const end = `.${this.#join.spec(space, placement)!.uid}`
      if (!name.endsWith(end)) continue
      const uid = name.slice(0, -end.length)
      for (const key of workload.namedBy(placement)) {
        const fact = workload.get(key)
        if (fact?.uid === uid) return this.ofFact(space, placement, fact)
      }
    }
    return undefined
  }

  /** As it is now; `undefined`: nothing has this name any more. */
  find(space: string, subject: Subject, { namespace, name }: AnswerName): Summarized | undefined {
    const found =
      'key' in subject
        ? this.#ofObject(space, subject.placement, subject.key)
        : this.#ofCarried(space, subject.placement, subject.collector)
    const own = found && subjectName(found.subject)
    return own?.name === name && own.namespace === namespace ? found : undefined
  }

  #ofObject(space: string, placement: string, key: string): Summarized | undefined {
    const workload = this.#join.workload(space)
    const [spec, fact] = [this.#join.spec(space, placement), workload.get(key)]
    if (!spec || !fact || !workload.names(placement, key)) return undefined
    const labels = workload.get(namespaceKey(fact.namespace))?.labels
    const names = collectorsOf(spec, fact, labels)
    if (names.length === 0) return undefined
    return { space, spec, subject: this.ofFact(space, placement, fact), fact, collectors: this.#used(space, names) }
  }

  #ofCarried(space: string, placement: string, collector: string): Summarized | undefined {
    const spec = this.#join.spec(space, placement)
    if (!spec?.carriedCollectors.has(collector)) return undefined
    const collectors = this.#used(space, [collector])
    return { space, spec, subject: { placement, collector }, fact: undefined, collectors }
  }

  /** Missing and wrong ones are a condition of the placement. */
  #used(space: string, names: readonly string[]): UsedCollector[] {
    return names.flatMap(name => this.#collectors.get(space, name) ?? [])
  }
}
