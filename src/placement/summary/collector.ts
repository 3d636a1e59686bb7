/**
 * A StatusCollector, compiled: a choice of clusters by a filter, and columns that either aggregate over groups of them or show
 * each. The shape is KubeStellar's. An expression is CEL over `obj`, `returned`, `inventory` and `propagation`. Pure.
 */
import type { Environment } from '@marcbachmann/cel-js'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { at, num, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { estimateOpenCost } from '../../apimachinery/structural/celCost.ts'
import { celEnvironment } from '../../apimachinery/structural/celFunctions.ts'
import { CelCompileError, type CelProgram, compileCel } from '../../apimachinery/structural/celProgram.ts'

/** Names that expressions may use. */
export const COLLECTED_VARIABLES = ['obj', 'returned', 'inventory', 'propagation'] as const

export const AGGREGATES = ['COUNT', 'SUM', 'AVG', 'MIN', 'MAX'] as const
export type Aggregate = (typeof AGGREGATES)[number]

export interface Expression {
  readonly column: string
  readonly program: CelProgram
}

/** An aggregate; `COUNT` has no subject. */
export interface CombinedField {
  readonly column: string
  readonly type: Aggregate
  readonly subject: CelProgram | undefined
}

export interface Collector {
  readonly name: string
  readonly filter: CelProgram | undefined
  readonly groupBy: readonly Expression[]
  readonly combinedFields: readonly CombinedField[]
  readonly select: readonly Expression[]
  /** Rows that are shown. */
  readonly limit: number
  /** Whether an expression reads the object itself. */
  readonly readsObject: boolean
}

/** Cost of all expressions of a collector for one cluster, in the units of CEL: some milliseconds. */
export const MAX_COLLECTING_COST = 20_000
export const DEFAULT_LIMIT = 20
/** Column of a filter, where errors name it. */
export const FILTER = 'filter'

export type ReadCollector =
  | { readonly collector: Collector; readonly problems?: undefined }
  | { readonly collector?: undefined; readonly problems: readonly FieldError[] }

/** The schema holds: names and expressions are texts, and lists have their bounds. */
export function readCollector({ metadata, spec }: KubeObject): ReadCollector {
  const problems: FieldError[] = []
  const sources: string[] = []
  const compile = (source: string, field: string, unfit: (type: string) => string | undefined): CelProgram => {
    sources.push(source)
    try {
      const program = compileCel(source, undefined, environment())
      const why = unfit(program.type) ?? costly(source)
      if (why !== undefined) problems.push(fieldError.invalid(field, source, why))
      return program
    } catch (error) {
      if (!(error instanceof CelCompileError)) throw error
      problems.push(fieldError.invalid(field, source, `compilation failed: ${error.message}`))
      return NEVER
    }
  }
  const named = (list: 'groupBy' | 'select', unfit: (type: string) => string | undefined): Expression[] =>
    records(spec, list).map((one, i) => ({
      column: str(one, 'name'),
      program: compile(str(one, 'def'), `spec.${list}[${i}].def`, unfit),
    }))
  const filter = at(spec, 'filter') === undefined ? undefined : compile(str(spec, 'filter'), 'spec.filter', unfitFilter)
  const groupBy = named('groupBy', unfitGroup)
  const select = named('select', () => undefined)
  const combinedFields = records(spec, 'combinedFields').map((one, i): CombinedField => {
    const field = `spec.combinedFields[${i}].subject`
    const [type, column] = [str(one, 'type') as Aggregate, str(one, 'name')]
    const hasSubject = one.subject !== undefined && one.subject !== null
    if (type === 'COUNT') {
      if (hasSubject) problems.push(fieldError.forbidden(field, 'COUNT counts rows and has no subject; use filter'))
      return { column, type, subject: undefined }
    }
    if (!hasSubject) problems.push(fieldError.required(field, `${type} needs an expression to aggregate`))
    return { column, type, subject: hasSubject ? compile(str(one, 'subject'), field, unfitSubject) : undefined }
  })
  problems.push(...shapeProblems({ groupBy, combinedFields, select }))
  if (problems.length > 0) return { problems }
  const limit = num(spec, 'limit') || DEFAULT_LIMIT
  const readsObject = sources.some(source => /\bobj\b/.test(source))
  return { collector: { name: metadata.name ?? '', filter, groupBy, combinedFields, select, limit, readsObject } }
}

function shapeProblems(lists: Pick<Collector, 'groupBy' | 'combinedFields' | 'select'>): FieldError[] {
  const { groupBy, combinedFields, select } = lists
  const problems: FieldError[] = []
  if (select.length + combinedFields.length === 0)
    problems.push(fieldError.required('spec.select', 'a collector has select or combinedFields'))
  if (select.length > 0 && combinedFields.length > 0)
    problems.push(fieldError.forbidden('spec.select', 'it excludes combinedFields; make two collectors'))
  if (groupBy.length > 0 && combinedFields.length === 0)
    problems.push(fieldError.forbidden('spec.groupBy', 'it needs combinedFields to say what is shown of a group'))
  const names = new Set<string>()
  for (const [list, columns] of Object.entries(lists)) {
    for (const [i, { column }] of columns.entries()) {
      if (names.has(column)) problems.push(fieldError.duplicate(`spec.${list}[${i}].name`, column))
      names.add(column)
    }
  }
  return problems
}

const unfitFilter = (type: string): string | undefined =>
  type === 'bool' || type === 'dyn' ? undefined : `must be a boolean, and is of type ${type}`
const unfitGroup = (type: string): string | undefined =>
  /^(list|map)\b/.test(type) ? `must be a text, number or boolean, and is of type ${type}` : undefined
const unfitSubject = (type: string): string | undefined =>
  /^(list|map|bool)\b/.test(type) ? `must be a number, and is of type ${type}` : undefined

function costly(source: string): string | undefined {
  if (estimateOpenCost(source, COLLECTED_VARIABLES) <= MAX_COLLECTING_COST) return undefined
  return `it may cost too much for each cluster: put fewer loops into each other (limit ${MAX_COLLECTING_COST})`
}

const NEVER: CelProgram = { type: 'dyn', usesOldSelf: false, evaluate: () => null }

// Immutable once made; making it takes milliseconds, so it is made at first use.
let made: Environment | undefined

function environment(): Environment {
  made ??= celEnvironment(COLLECTED_VARIABLES)
  return made
}
