/**
 * `spec.rolloutStrategy` of an EdgePlacement: how a new revision comes to its clusters. The shape is Open Cluster Management's
 * (`type`, a block of that name, `maxConcurrency`, `minSuccessTime`, `progressDeadline`, `maxFailures`,
 * `mandatoryDecisionGroups`), with groups by Location labels, gates and `onFailure`. Pure.
 */
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import { at, has, record, records, str } from '../../apimachinery/fields.ts'
import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
  validateLabelSelector,
} from '../../apimachinery/selectors.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { readWindows, type Window } from './windows.ts'

export const ROLLOUT_TYPES = ['All', 'Progressive', 'ProgressivePerGroup'] as const
export type RolloutType = (typeof ROLLOUT_TYPES)[number]
const FAILURE_ANSWERS = ['Stop', 'Rollback'] as const

/** A number of clusters, or a share of them in percent. */
export type Share = { readonly count: number } | { readonly percent: number }

export interface Group {
  readonly name: string
  readonly selector: LabelSelector
  /** Whether somebody has to approve before its first cluster begins. */
  readonly approval: boolean
  /** Its clusters begin within any of these; empty: at any time. */
  readonly windows: readonly Window[]
}

export interface RolloutStrategy {
  readonly type: RolloutType
  /** Clusters that may be on their way at once; of a group in `ProgressivePerGroup`. Absent: all. */
  readonly maxConcurrency: Share | undefined
  /** A cluster counts as done once its content has been healthy for so long without a break. */
  readonly minSuccessMs: number
  /** A cluster that is not healthy by then has failed. */
  readonly progressDeadlineMs: number | undefined
  /** Failed clusters that do not stop the rollout; of a group in `ProgressivePerGroup`. */
  readonly maxFailures: Share
  /** In their order. Clusters in none of them come last. */
  readonly groups: readonly Group[]
  /** Positions in `groups` of those that come first, one by one, and may not fail at all. */
  readonly mandatory: readonly number[]
  readonly windows: readonly Window[]
  readonly onFailure: (typeof FAILURE_ANSWERS)[number]
}

export const MAX_GROUPS = 32
/** Bound on `minSuccessTime` and `progressDeadline`. */
export const MAX_WAIT_MS = 14 * 24 * 3_600_000
export const STRATEGY_FIELD = 'spec.rolloutStrategy'

export type ReadStrategy =
  | { readonly strategy: RolloutStrategy; readonly problems?: undefined }
  | { readonly strategy?: undefined; readonly problems: readonly FieldError[] }

const ALL: RolloutStrategy = {
  type: 'All',
  maxConcurrency: undefined,
  minSuccessMs: 0,
  progressDeadlineMs: undefined,
  maxFailures: { count: 0 },
  groups: [],
  mandatory: [],
  windows: [],
  onFailure: 'Stop',
}

/** Whether destinations read revisions and not the live objects. */
export function isStaged(rolloutStrategy: unknown): boolean {
  const type = str(rolloutStrategy, 'type')
  return type !== '' && type !== 'All'
}

/** `value` is an EdgePlacement's `spec.rolloutStrategy`, or the snapshot of it in a rollout. */
export function readStrategy(value: unknown): ReadStrategy {
  if (value === undefined || value === null) return { strategy: ALL }
  const problems: FieldError[] = has(value, 'type')
    ? oneOf(str(value, 'type'), `${STRATEGY_FIELD}.type`, ROLLOUT_TYPES)
    : []
  const type = has(value, 'type') ? (str(value, 'type') as RolloutType) : 'All'
  if (problems.length > 0) return { problems }
  const block = blockOf(type)
  const config = record(value, block)
  const field = `${STRATEGY_FIELD}.${block}`
  const groups = readGroups(value, problems)
  const strategy: RolloutStrategy = {
    type,
    maxConcurrency: readConcurrency(config, field, problems),
    minSuccessMs: readDuration(config, 'minSuccessTime', field, problems) ?? 0,
    progressDeadlineMs: readDuration(config, 'progressDeadline', field, problems),
    maxFailures: readShare(config, 'maxFailures', field, problems) ?? { count: 0 },
    groups,
    mandatory: readMandatory(config, field, groups, problems),
    windows: readWindows(value, `${STRATEGY_FIELD}.windows`, problems),
    onFailure: readFailureAnswer(value, problems),
  }
  return problems.length > 0 ? { problems } : { strategy }
}

/** The same strategy without approvals and windows. */
export function withoutGates(value: unknown): Record<string, unknown> {
  const { windows: _, ...strategy } = record({ value }, 'value')
  if (!has(strategy, 'decisionGroups')) return strategy
  const decisionGroups = records(strategy, 'decisionGroups').map(({ approval: _, windows: __, ...group }) => group)
  return { ...strategy, decisionGroups }
}

/** Warnings for a valid strategy: parts without effect, each with its remedy. */
export function strategyWarnings(value: unknown): string[] {
  const type = has(value, 'type') ? (str(value, 'type') as RolloutType) : 'All'
  const warnings = ROLLOUT_TYPES.filter(other => other !== type && has(value, blockOf(other))).map(
    other =>
      `${STRATEGY_FIELD}.${blockOf(other)}: it has no effect with type ${type}; remove it, or set type: ${other}`,
  )
  if (type !== 'All') return warnings
  const idle = ['decisionGroups', 'windows', 'onFailure'].filter(name => has(value, name))
  for (const name of idle)
    warnings.push(
      `${STRATEGY_FIELD}.${name}: it has no effect with type All; set type: Progressive or type: ProgressivePerGroup`,
    )
  return warnings
}

/** A number of clusters of `total`: percentages round up, so that there is always one. */
export function clustersOf(share: Share, total: number): number {
  return 'count' in share ? share.count : Math.ceil((share.percent * total) / 100)
}

/** Positions of all groups whose labels match. The first counts; without any a cluster comes last. */
export function groupsMatching(
  { groups }: Pick<RolloutStrategy, 'groups'>,
  labels: Readonly<Record<string, string>>,
): number[] {
  return [...groups.keys()].filter(position => groups[position]!.selector.matches(labels))
}

function blockOf(type: RolloutType): string {
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}`
}

function readFailureAnswer(value: unknown, problems: FieldError[]): RolloutStrategy['onFailure'] {
  if (!has(value, 'onFailure')) return 'Stop'
  const answer = str(value, 'onFailure')
  problems.push(...oneOf(answer, `${STRATEGY_FIELD}.onFailure`, FAILURE_ANSWERS))
  return answer as RolloutStrategy['onFailure']
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const MAX_NAME = 63

function readGroups(value: unknown, problems: FieldError[]): Group[] {
  const written = records(value, 'decisionGroups')
  const base = `${STRATEGY_FIELD}.decisionGroups`
  if (written.length > MAX_GROUPS) problems.push(fieldError.tooMany(base, written.length, MAX_GROUPS))
  const groups: Group[] = []
  for (const [i, one] of written.slice(0, MAX_GROUPS).entries()) {
    const field = `${base}[${i}]`
    const name = str(one, 'groupName')
    if (name === '') problems.push(fieldError.required(`${field}.groupName`, 'stages and approvals name the group'))
    else if (!NAME.test(name) || name.length > MAX_NAME)
      problems.push(fieldError.invalid(`${field}.groupName`, name, 'must be a DNS label such as "canary" or "prod-eu"'))
    else if (groups.some(group => group.name === name)) problems.push(fieldError.duplicate(`${field}.groupName`, name))
    const selector = readSelector(one, `${field}.locationSelector`, problems)
    const before = groups.find(group => group.selector.isEverything)
    const same = written.slice(0, i).findIndex(other => equalJson(other.locationSelector, one.locationSelector))
    if (before)
      problems.push(
        fieldError.invalid(
          field,
          name,
          `no cluster is left for it: group "${before.name}" before it takes all; put that one last`,
        ),
      )
    else if (same >= 0 && selector.requirements.length > 0)
      problems.push(
        fieldError.invalid(
          `${field}.locationSelector`,
          name,
          `no cluster is left for it: group "${str(written[same], 'groupName')}" before it selects the same; remove one of them`,
        ),
      )
    groups.push({
      name,
      selector,
      approval: at(one, 'approval') === true,
      windows: readWindows(one, `${field}.windows`, problems),
    })
  }
  return groups
}

const NOTHING = labelSelectorFromObject(undefined)

function readSelector(group: unknown, field: string, problems: FieldError[]): LabelSelector {
  if (!has(group, 'locationSelector')) {
    problems.push(
      fieldError.required(field, 'it says by Location labels which clusters are in the group; {} takes all'),
    )
    return NOTHING
  }
  const selector = record(group, 'locationSelector') as LabelSelectorObject
  const errors = validateLabelSelector(selector, field)
  problems.push(...errors)
  return errors.length > 0 ? NOTHING : labelSelectorFromObject(selector)
}

function readMandatory(config: unknown, field: string, groups: readonly Group[], problems: FieldError[]): number[] {
  const known =
    groups.length === 0
      ? `${STRATEGY_FIELD}.decisionGroups has none`
      : `there are ${groups.map(({ name }) => `"${name}"`).join(', ')}`
  const mandatory: number[] = []
  for (const [i, one] of records(config, 'mandatoryDecisionGroups').entries()) {
    const place = `${field}.mandatoryDecisionGroups[${i}]`
    const [name, index] = [at(one, 'groupName'), at(one, 'groupIndex')]
    const found =
      typeof name === 'string' && name !== '' ? groups.findIndex(group => group.name === name) : Number(index ?? -1)
    if (!(found in groups))
      problems.push(
        fieldError.invalid(
          `${place}.${name ? 'groupName' : 'groupIndex'}`,
          name ? name : index,
          `no such group: ${known}`,
        ),
      )
    else if (mandatory.includes(found)) problems.push(fieldError.duplicate(place, groups[found]?.name))
    else mandatory.push(found)
  }
  return mandatory
}

function readConcurrency(config: unknown, field: string, problems: FieldError[]): Share | undefined {
  const share = readShare(config, 'maxConcurrency', field, problems)
  if (share && ('count' in share ? share.count : share.percent) === 0) {
    const remedy = 'no cluster could ever begin; use 1 or more, and `paused` of the rollout to hold it'
    problems.push(fieldError.invalid(`${field}.maxConcurrency`, at(config, 'maxConcurrency'), remedy))
  }
  return share
}

const MAX_COUNT = 1_000_000

function readShare(config: unknown, name: string, field: string, problems: FieldError[]): Share | undefined {
  const value = at(config, name)
  if (value === undefined || value === null) return undefined
  const wrong = (detail: string): undefined => {
    problems.push(fieldError.invalid(`${field}.${name}`, value, detail))
  }
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0 && value <= MAX_COUNT) return { count: value }
    return wrong(`must be a whole number of clusters from 0 to ${MAX_COUNT}, or a percentage such as "25%"`)
  }
  const text = typeof value === 'string' ? value : ''
  if (/^[0-9]+$/.test(text))
    return wrong(
      `must be the number ${Number(text)} without quotes, or a percentage such as "${Math.min(Number(text), 100)}%"`,
    )
  const percent = /^([0-9]{1,9})%$/.exec(text)?.[1]
  if (percent === undefined) return wrong('must be a number of clusters such as 3, or a percentage such as "25%"')
  if (Number(percent) > 100) return wrong('must be at most "100%", which is all clusters')
  return { percent: Number(percent) }
}

const DURATION = /^(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?$/

/** `None` and what is absent are `undefined`. */
function readDuration(config: unknown, name: string, field: string, problems: FieldError[]): number | undefined {
  const value = at(config, name)
  if (value === undefined || value === null || (value === 'None' && name === 'progressDeadline')) return undefined
  if (value === '0') return name === 'minSuccessTime' ? 0 : wrongDuration()
  const parts = typeof value === 'string' && value !== '' ? DURATION.exec(value) : null
  if (!parts) return wrongDuration()
  const ms = (Number(parts[1] ?? 0) * 3600 + Number(parts[2] ?? 0) * 60 + Number(parts[3] ?? 0)) * 1000
  if (ms > MAX_WAIT_MS || (ms === 0 && name === 'progressDeadline')) return wrongDuration()
  return ms

  function wrongDuration(): undefined {
    const longest = `${MAX_WAIT_MS / 3_600_000}h`
    const others = name === 'progressDeadline' ? `up to ${longest}, or "None"` : `up to ${longest}`
    problems.push(
      fieldError.invalid(`${field}.${name}`, value, `must be a time such as "90s", "10m" or "1h30m", ${others}`),
    )
  }
}
