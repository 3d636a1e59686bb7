/**
 * The comparison of objects with the schemas and rules of their definitions, where it takes long. It begins on the loop. After some
 * milliseconds a thread of the pool does it from the start, with upstream's full cost bound.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { type Effort, trialEffort } from '../../apimachinery/structural/effort.ts'
import { type SchemaText, schemaText } from '../../apimachinery/structural/schemaText.ts'
import type { Strategy } from '../../kinds/strategy.ts'
import { strategyFor } from '../../kinds/strategyFor.ts'
import type { LoopShare } from '../../program/loopShare.ts'
import { type Job, JobError, type JobKind } from '../../program/threadPool.ts'
import type { Work } from '../../program/workTurns.ts'
import { jobRefused } from '../request/jobRefused.ts'

/** Bound on the processor's time. Units end a check long before, on any machine. */
export const LIMIT_MS = 6000

export interface CheckJob {
  schema: SchemaText
  /** As JSON. */
  object: string
  old: string | undefined
}

/** Faults of an object, and its earlier faults that stay unchanged. */
export interface Verdict {
  errors: FieldError[]
  warned: FieldError[]
}

export const CHECK: JobKind<CheckJob, Verdict> = { name: 'check', limitMs: LIMIT_MS }

/** A large object of a built-in kind, for its strategy. */
export interface KindJob extends GroupResource {
  /** `''` for the object itself. */
  subresource: string
  /** As JSON. */
  object: string
  old: string | undefined
}

export interface KindVerdict {
  errors: FieldError[]
  /** Errors of the change alone. */
  changeErrors: FieldError[]
  warnings: string[]
}

export const KIND_CHECK: JobKind<KindJob, KindVerdict> = { name: 'kind', limitMs: LIMIT_MS }

/** One object in question. */
export interface Question {
  schema: Schema
  object: KubeObject
  old: KubeObject | undefined
}

export interface LongChecksDeps {
  run: (job: Job<CheckJob>) => Promise<Verdict>
  runKind: (job: Job<KindJob>) => Promise<KindVerdict>
  /** Shared by all that is tried on the loop. */
  share: LoopShare
}

export class LongChecks {
  readonly #deps: LongChecksDeps

  constructor(deps: LongChecksDeps) {
    this.#deps = deps
  }

  /** Runs a check that may take as long as there is time for it now. @throws UnfinishedCheck */
  try<T>(space: string, check: (effort: Effort) => T): T {
    return this.#deps.share.run(space, ms => check(trialEffort(ms)))
  }

  /** In a thread. @throws StatusError TooManyRequests, ServiceUnavailable */
  async judge(space: string, { schema, object, old }: Question): Promise<Verdict> {
    const input = {
      schema: schemaText(schema),
      object: JSON.stringify(object),
      old: old === undefined ? undefined : JSON.stringify(old),
    }
    try {
      return await this.#deps.run({ input, owner: space })
    } catch (error) {
      return tooMuch(error)
    }
  }

  /** Whether a thread has the strategy too. */
  has(gr: GroupResource, strategy: Strategy): boolean {
    return strategyFor(gr) === strategy
  }

  /** Findings of its kind's strategy, in a thread. @throws StatusError TooManyRequests, ServiceUnavailable */
  async judgeKind(
    space: string,
    { group, resource }: GroupResource,
    { object, old, subresource }: { object: KubeObject; old: KubeObject | undefined; subresource: string },
    work: Pick<Work, 'due' | 'rest'>,
  ): Promise<KindVerdict> {
    const text = withoutClaims(object)
    if (work.due) await work.rest()
    const oldText = old === undefined ? undefined : withoutClaims(old)
    const input = { group, resource, subresource, object: text, old: oldText }
    try {
      return await this.#deps.runKind({ input, owner: space })
    } catch (error) {
      return { errors: tooMuch(error).errors, changeErrors: [], warnings: [] }
    }
  }
}

/** As JSON, without what no strategy looks at and may be the larger half. */
function withoutClaims(object: KubeObject): string {
  const { managedFields: _, ...metadata } = object.metadata
  return JSON.stringify({ ...object, metadata })
}

/** @throws what is no limit that was reached */
function tooMuch(error: unknown): Verdict {
  if (!(error instanceof JobError && (error.why === 'time' || error.why === 'memory'))) throw jobRefused(error)
  const detail =
    `was not checked to its end (${error.message}): give it fewer or smaller values, or its definition rules and patterns ` +
    'that look at less'
  return { errors: [{ ...fieldError.invalid('', undefined, detail), omitValue: true }], warned: [] }
}
