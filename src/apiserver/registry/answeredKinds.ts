/** The kinds whose objects are answered and not stored, each with its reader. */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { AnswerDesk, Answerer } from '../../placement/desks/answered.ts'
import { AnsweredReader, type AnsweredReaderDeps, type KindReader } from './answeredReader.ts'

export class AnsweredKinds implements AnswerDesk {
  readonly #deps: AnsweredReaderDeps
  /** By `resource.group`: as many as the catalog has. */
  readonly #readers = new Map<string, AnsweredReader>()

  constructor(deps: AnsweredReaderDeps) {
    this.#deps = deps
  }

  answerFor(kind: GroupResource, answerer: Answerer | undefined): void {
    this.readerOf(kind).answerWith(answerer)
  }

  /** @param kind one that is answered */
  readerOf(kind: GroupResource): AnsweredReader {
    const name = groupResourceName(kind)
    return getOrInsert(this.#readers, name, () => new AnsweredReader(this.#deps))
  }
}

/** Reader for objects of a kind. */
export function readerOf(
  { reader, answered }: { readonly reader: KindReader; readonly answered: AnsweredKinds },
  type: ResourceType,
): KindReader {
  return type.answered ? answered.readerOf(type) : reader
}
