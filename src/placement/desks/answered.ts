/**
 * Kinds whose objects are answered and not stored: somebody in the server's process knows at any time what they say. Interface between the
 * server and that provider, changes included.
 */
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'

/** Long work gives way to others between its steps. */
export interface Pace {
  readonly due: boolean
  rest(): Promise<void>
}

export interface AnswerName {
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string
  readonly name: string
}

export interface AnswerRange {
  /** Id of the space. */
  readonly space: string
  /** Absent: all of them. */
  readonly namespace?: string | undefined
  /** The next name. */
  readonly after?: AnswerName | undefined
  /** Values that fields are to have, as far as whoever asks has fixed them; what does not have them may be left out. */
  readonly fixed: ReadonlyMap<string, string>
}

/** One object of which not all is there yet. */
export interface AnswerRow extends AnswerName {
  /** With all that selectors may look at: name, labels, the fields by which the kind can be selected. */
  readonly head: Readonly<KubeObject>
  /** The whole object, without resourceVersion; `undefined` when it is gone meanwhile. `pace`: of long work for it. */
  whole(pace?: Pace): Promise<KubeObject | undefined>
}

/** A follower of a space's changes. */
export interface AnswerFollower {
  /** One may be another now, come or gone. */
  touched(name: AnswerName): void
  /** More changes than can be sent. */
  lost(): void
}

export interface Answerer {
  /**
   * In the order of namespaces and names, each the same at any time.
   * @throws StatusError ServiceUnavailable as long as not all of the space is known
   */
  rows(range: AnswerRange, pace: Pace): AsyncIterable<AnswerRow>
  /** @throws StatusError ServiceUnavailable as {@link rows} */
  row(space: string, name: AnswerName): Promise<AnswerRow | undefined>
  /** Tells of changes of a space until what is answered is called. */
  follow(space: string, follower: AnswerFollower): () => void
}

/** Where somebody who answers for a kind is made known. */
export interface AnswerDesk {
  answerFor(kind: GroupResource, answerer: Answerer | undefined): void
}
