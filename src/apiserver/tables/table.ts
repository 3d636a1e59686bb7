/**
 * The answer to `Accept: application/json;as=Table`: rows of cells instead of objects, and `PartialObjectMetadata`.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#receiving-resources-as-tables
 */
import { str } from '../../apimachinery/fields.ts'
import { compileJsonPath, type JsonPath } from '../../apimachinery/jsonPath.ts'
import { isRecord, type Json, type KubeObject } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { ColumnDefinition, ResourceType } from '../../apimachinery/resourceType.ts'
import { memberSchema, type Schema } from '../../apimachinery/schema.ts'
import { WorkBudget } from '../../apimachinery/workBudget.ts'
import { age } from '../../kinds/printers/duration.ts'
import { type Column, createdAtColumn, nameColumn, type Printer } from '../../kinds/printers/printer.ts'
import { printerFor } from '../../kinds/printers/printers.ts'

export interface TableOptions {
  type: ResourceType
  objects: readonly KubeObject[]
  /** Metadata of the list; for one object its resourceVersion. */
  listMeta: { resourceVersion?: string; continue?: string; remainingItemCount?: number }
  /** Content of each row beside its cells; upstream's default is `Metadata`. */
  includeObject: 'None' | 'Metadata' | 'Object'
  version: TableVersion
  now: Date
  /** False for the later events of a watch: `columnDefinitions` is null then. */
  headers: boolean
  /** Columns before those of the kind. */
  first?: readonly Column[] | undefined
}
export type TableVersion = 'v1' | 'v1beta1'

/** A `meta.k8s.io` Table in parts: whoever has many objects makes its rows one by one. */
export interface TableParts {
  /** Everything but the rows, which come last. */
  head: object
  row(object: KubeObject): object
  /** Where a row stands, the lowest first, when the order is not that of the objects. */
  rank: Printer['rank']
}

export function tableParts(options: Omit<TableOptions, 'objects'>): TableParts {
  const { type, now, version } = options
  const own = printerOf(type)
  const printer = options.first?.length ? withFirst(own, options.first) : own
  return {
    head: {
      kind: 'Table',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: options.listMeta,
      columnDefinitions: options.headers ? printer.columns.map(column => header(column, type)) : null,
    },
    row: object => {
      const conditions = printer.conditions?.(object) ?? []
      return {
        cells: printer.cells?.(object, now) ?? printer.columns.map(column => column.cell(object, now)),
        ...(conditions.length > 0 && { conditions }),
        object: rowObject(object, options.includeObject, version),
      }
    },
    rank: printer.rank,
  }
}

/** The same as a plain JSON value. */
export function tableFor({ objects, ...options }: TableOptions): object {
  const { head, row, rank } = tableParts(options)
  return { ...head, rows: (rank ? objects.toSorted((a, b) => rank(a) - rank(b)) : objects).map(row) }
}

/** The object's metadata alone. */
export function partialMetadata(object: KubeObject, version: TableVersion): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata }
}

const DEFAULT: Printer = { columns: [nameColumn, createdAtColumn] }

function withFirst(printer: Printer, first: readonly Column[]): Printer {
  const { cells } = printer
  return {
    ...printer,
    columns: [...first, ...printer.columns],
    ...(cells && { cells: (object, now) => [...first.map(column => column.cell(object, now)), ...cells(object, now)] }),
  }
}

/** Column for objects of several spaces. `spaceName`: name of a space, by its id. */
export function spaceColumn(spaceName: (id: string) => string): Column {
  return {
    name: 'Space',
    type: 'string',
    description: 'The space that the object is in.',
    cell: object => spaceName(str(object, 'metadata', 'annotations', CLUSTER_ANNOTATION)),
  }
}

function printerOf(type: ResourceType): Printer {
  if (type.columns.length === 0) return printerFor(type) ?? DEFAULT
  let printer = printers.get(type.columns)
  if (printer === undefined) {
    printer = jsonPathPrinter(type.columns)
    printers.set(type.columns, printer)
  }
  return printer
}

// A memo of a pure function: columns live as long as the descriptor of their kind, and their paths are compiled once.
const printers = new WeakMap<readonly ColumnDefinition[], Printer>()

function rowObject(object: KubeObject, include: TableOptions['includeObject'], version: TableVersion) {
  if (include === 'None') return null
  return include === 'Object' ? object : partialMetadata(object, version)
}

function header(column: Column, type: ResourceType) {
  return {
    name: column.name,
    type: column.type,
    format: column.format ?? '',
    description: column.description ?? describe(type.schema, column.field ?? ''),
    priority: column.priority ?? 0,
  }
}

/** The description of the field at a path of a schema; fields that schemas leave open get a sentence of their own. */
function describe(schema: Schema | undefined, path: string): string {
  let here = schema
  for (const name of path.split('.')) here = memberSchema(here, name)
  return here?.description ?? METADATA_DESCRIPTIONS[path] ?? ''
}

const METADATA_DESCRIPTIONS: Record<string, string> = {
  'metadata.name': 'Name of the object, unique among objects of its kind in its namespace.',
  'metadata.creationTimestamp': 'When the server created the object (RFC 3339, UTC).',
}

/** Units for all cells of a row together: for each value that is looked at, and for what is shown. Sensible rows take some ten. */
export const MAX_ROW = 60_000
/** For a character. */
const SHOWN = 0.02

function rowBudget(): WorkBudget {
  return new WorkBudget(MAX_ROW, () => new Error('the cells of the row take too much work'))
}

/** A definition is stored whatever its paths are. As upstream, the columns before the first one that cannot be read are shown. */
function jsonPathPrinter(definitions: readonly ColumnDefinition[]): Printer {
  const columns: PathColumn[] = []
  for (const definition of definitions) {
    const find = readable(definition.jsonPath ?? '')
    if (find === undefined) break
    columns.push(jsonPathColumn(definition, find))
  }
  return {
    columns: [nameColumn, ...columns],
    cells(object, now) {
      const budget = rowBudget()
      return [nameColumn.cell(object, now), ...columns.map(column => column.cell(object, now, budget))]
    },
  }
}

function readable(path: string): JsonPath | undefined {
  try {
    return compileJsonPath(path)
  } catch {
    // That the column is missing tells it: nobody but the author of the definition can mend it.
    return undefined
  }
}

/** `budget`: of the row. A cell for which nothing is left stays empty. */
interface PathColumn extends Column {
  cell(object: Parameters<Column['cell']>[0], now: Date, budget?: WorkBudget): Json
}

function jsonPathColumn(definition: ColumnDefinition, find: JsonPath): PathColumn {
  return {
    ...definition,
    ...(definition.jsonPath === '.metadata.creationTimestamp' && { field: 'metadata.creationTimestamp' }),
    cell: (object, now, budget: WorkBudget = rowBudget()) => {
      const shown = cellOf(definition.type, find(object, budget)[0], now)
      if (typeof shown === 'string') budget.spend(Math.min(budget.left, shown.length * SHOWN))
      return shown
    },
  }
}

/** Values of another type than the column's are shown as nothing (null), as upstream does. */
function cellOf(type: ColumnDefinition['type'], value: unknown, now: Date): Json {
  if (value === undefined) return null
  switch (type) {
    case 'date':
      return typeof value === 'string' ? age(value, now) : value === null ? '<unknown>' : null
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'string':
      return typeof value === 'string'
        ? value
        : isRecord(value) || Array.isArray(value)
          ? JSON.stringify(value)
          : String(value)
  }
}
