/** How an object that is to be stored is judged: at once, or where that would take long in slices or by a thread. */
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { hasMoreValues } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { inSlices, type Steps } from '../../apimachinery/steps.ts'
import { UnfinishedCheck } from '../../apimachinery/structural/effort.ts'
import type { Strategy } from '../../kinds/strategy.ts'
import type { Work } from '../../program/workTurns.ts'
import type { WriteContext } from './context.ts'
import { LARGE_VALUES } from './largeWrites.ts'
import type { KindVerdict, Verdict } from './longChecks.ts'
import type { ObjectRules, ObjectRulesDeps } from './objectRules.ts'

/** Subject of a write. */
interface Judged {
  object: KubeObject
  old: KubeObject | undefined
  subresource: string
}

interface LargeChange {
  space: string
  work: Work
  target: ResourceType
  change: Judged
}

export class Judging {
  readonly #deps: Pick<ObjectRulesDeps, 'longChecks' | 'strategyFor'>
  readonly #rules: ObjectRules

  constructor(deps: Pick<ObjectRulesDeps, 'longChecks' | 'strategyFor'>, rules: ObjectRules) {
    this.#deps = deps
    this.#rules = rules
  }

  /** The errors of a check, which is done once more with the verdict of a thread where it takes long. */
  checked(
    check: (verdict?: Verdict) => FieldError[],
    { space }: WriteContext,
    { schema }: ResourceType,
    object: KubeObject,
    old?: KubeObject,
  ): Soon<FieldError[]> {
    try {
      return check()
    } catch (error) {
      const { longChecks } = this.#deps
      if (!(error instanceof UnfinishedCheck) || longChecks === undefined || schema === undefined) throw error
      return longChecks.judge(space, { schema, object, old }).then(check)
    }
  }

  /** The strategy of a large object's kind, with what it finds: it judges in slices or in a thread, and then knows. */
  before(context: WriteContext, target: ResourceType, change: Judged): Soon<Strategy | undefined> {
    const strategy = this.#deps.strategyFor(target)
    const { space, work } = context
    return work && strategy ? this.#large(strategy, { space, work, target, change }) : strategy
  }

  async #large(strategy: Strategy, { space, work, target, change }: LargeChange): Promise<Strategy> {
    const { longChecks } = this.#deps
    const { object, old } = change
    const steps = strategy.validateInSteps?.(object, old)
    if (steps) return await judgedInSteps(strategy, steps, work)
    if (!longChecks?.has(target, strategy) || !hasMoreValues(object, LARGE_VALUES)) return strategy
    const own = await longChecks.judgeKind(space, target, change, work)
    const standIn = this.#rules.standInFor(space, target, object)
    const other = standIn ? await longChecks.judgeKind(space, target, { ...change, object: standIn }, work) : own
    const verdict = (judged: KubeObject): KindVerdict => (judged === object ? own : other)
    const { subresources: _judged, ...rest } = strategy
    return {
      ...rest,
      validate: judged => verdict(judged).errors,
      validateUpdate: judged => verdict(judged).changeErrors,
      ...(strategy.warnings && { warnings: () => own.warnings }),
    }
  }
}

async function judgedInSteps(strategy: Strategy, steps: Steps<FieldError[]>, work: Work): Promise<Strategy> {
  try {
    const errors = await inSlices(steps, work)
    return { ...strategy, validate: () => errors }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    // too many errors to hand on: reported as where it judges at once
    const tooMany = (): never => {
      throw error
    }
    return { ...strategy, validate: tooMany }
  }
}
