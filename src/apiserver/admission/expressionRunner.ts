/**
 * Runs the expressions of policies and webhooks for one request. Short ones, which nearly all are, run on the loop. Others start anew in a
 * thread of the pool, at upstream's full cost. The result is the same.
 */
import { setImmediate as letOthers } from 'node:timers/promises'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { TRIAL_UNITS } from '../../apimachinery/structural/effort.ts'
import { threadTimeBound } from '../../apimachinery/threadTime.ts'
import type { LoopShare } from '../../program/loopShare.ts'
import { type Job, JobError, type JobKind } from '../../program/threadPool.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Attributes, Authorizer, Decision } from '../auth/types.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import { jobRefused } from '../request/jobRefused.ts'
import type { Expression } from './admissionCel.ts'
import type { AdmissionFacts } from './admissionFacts.ts'
import {
  type Answers,
  type AuthorizerFacts,
  authorizerFacts,
  authorizerVariables,
  withAnswers,
} from './celAuthorizer.ts'
import {
  type EvaluationName,
  type EvaluationParts,
  type EvaluationResults,
  failedEvaluation,
  runEvaluation,
} from './evaluations.ts'
import { Purse } from './purse.ts'

/** An author of one policy may make many, with many parameters. Four that cost as much as they may; sensible ones cost thousands. */
export const MAX_REQUEST_COST = 40_000_000
/** Some milliseconds; after that, others have their turn. */
const MUCH = 25_000
/** Bound on the processor's time. Units end expressions long before, on any machine. */
export const LIMIT_MS = 8000

export interface ExpressionJob {
  name: EvaluationName
  /** As JSON, with the sources of expressions. */
  part: string
  facts: string
  /** As JSON. */
  params: string | undefined
  authorizer: AuthorizerFacts
  answers: [question: string, answer: Decision][]
  units: number
}
export interface ExpressionResult {
  value: EvaluationResults[EvaluationName]
  unanswered: [question: string, attributes: Attributes][]
  used: number
}

export const EXPRESSIONS: JobKind<ExpressionJob, ExpressionResult> = { name: 'expressions', limitMs: LIMIT_MS }

export interface ExpressionRunnerDeps {
  authorizer: Authorizer
  run: (job: Job<ExpressionJob>) => Promise<ExpressionResult>
  share: LoopShare
  /** For what expressions know of a large object. */
  turns: Pick<WorkTurns, 'begin'>
}

/** Names for expressions. */
export interface Given {
  request: AdmissionRequest
  facts: AdmissionFacts
  /** Absent for webhooks, where there is no such thing. */
  params?: Readonly<KubeObject> | null
}

/** Cost of all expressions for one request, which is another one for each object, each round of changes, and the validation. */
interface Spent {
  left: number
  sinceOthers: number
}

export class ExpressionRunner {
  readonly #deps: ExpressionRunnerDeps
  readonly #spent = new WeakMap<AdmissionRequest, Spent>()

  constructor(deps: ExpressionRunnerDeps) {
    this.#deps = deps
  }

  /** @throws StatusError TooManyRequests, ServiceUnavailable */
  async evaluate<N extends EvaluationName>(
    name: N,
    part: EvaluationParts[N],
    given: Given,
  ): Promise<EvaluationResults[N]> {
    const { request } = given
    const spent = getOrInsert(this.#spent, request, () => ({ left: MAX_REQUEST_COST, sinceOthers: 0 }))
    const rights = authorizerFacts(request)
    const begin = () => this.#deps.turns.begin({ owner: rights.space })
    const readied = given.facts.readied(begin)
    if (readied) await readied
    return withAnswers(this.#deps.authorizer, async answers => {
      const tried = this.#try(name, part, { given, rights, answers, spent })
      if (spent.sinceOthers > MUCH) {
        spent.sinceOthers = 0
        await letOthers()
      }
      if (tried !== undefined) return tried.value
      const textReadied = given.facts.textReadied(begin)
      if (textReadied) await textReadied
      return this.#inThread(name, part, { given, rights, answers, spent })
    })
  }

  /** More work for the request that is no expression. @throws Error when there is nothing left for it */
  spend(request: AdmissionRequest, units: number): void {
    const spent = this.#spent.get(request)
    if (spent === undefined) return
    if (spent.left < units) throw new Error('the changes of all policies for the request take too much work')
    spent.left -= units
    spent.sinceOthers += units
  }

  /** On the loop. `undefined` when it was too short to tell. */
  #try<N extends EvaluationName>(
    name: N,
    part: EvaluationParts[N],
    { given, rights, answers, spent }: Attempt,
  ): { value: EvaluationResults[N] } | undefined {
    const { facts, params } = given
    const isTrial = spent.left > TRIAL_UNITS
    return this.#deps.share.run(rights.space, ms => {
      const purse = isTrial ? new Purse(TRIAL_UNITS, threadTimeBound(ms)) : new Purse(spent.left)
      const authorizer = authorizerVariables(rights, answers)
      const scene = { facts, params: params === undefined ? undefined : { value: params }, authorizer, purse }
      const value = runEvaluation(name, part, scene)
      spent.sinceOthers += purse.used
      if (isTrial && purse.wasShort) {
        answers.unanswered.clear()
        return undefined
      }
      spent.left -= purse.used
      return { value }
    })
  }

  async #inThread<N extends EvaluationName>(
    name: N,
    part: EvaluationParts[N],
    { given, rights, answers, spent }: Attempt,
  ): Promise<EvaluationResults[N]> {
    const { facts, params } = given
    const input: ExpressionJob = {
      name,
      part: partText(part),
      facts: facts.text,
      params: params === undefined ? undefined : JSON.stringify(params),
      authorizer: rights,
      answers: answers.known,
      units: spent.left,
    }
    try {
      const { value, unanswered, used } = await this.#deps.run({ input, owner: rights.space })
      spent.left -= used
      for (const [question, attributes] of unanswered) answers.unanswered.set(question, attributes)
      return value as EvaluationResults[N]
    } catch (error) {
      if (!(error instanceof JobError && (error.why === 'time' || error.why === 'memory'))) throw jobRefused(error)
      return failedEvaluation(name, part, `its expressions were stopped: ${error.message}`)
    }
  }
}

interface Attempt {
  given: Given
  rights: AuthorizerFacts
  answers: Answers
  spent: Spent
}

/** Expressions by their sources alone. */
function partText(part: EvaluationParts[EvaluationName]): string {
  return JSON.stringify(part, (_, value) => (isExpression(value) ? { source: value.source } : value))
}

function isExpression(value: unknown): value is Expression {
  return isRecord(value) && typeof value.source === 'string' && ('program' in value || 'failure' in value)
}
