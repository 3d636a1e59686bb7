/** StatusCollectors, and their answers: by what these are about, as their own names are uids. */
import { at, type Fields, records, str, strings } from '../../apimachinery/fields.ts'
import { ageColumn, column, integer, nameColumn, type Printer, text } from './printer.ts'

const collectors: Printer = {
  columns: [
    nameColumn,
    column('Columns', columnsOf, { description: 'The columns that it makes.' }),
    integer('Limit', 'spec.limit'),
    ageColumn,
    text('Filter', 'spec.filter', { wide: true }),
  ],
}

const combined: Printer = {
  columns: [
    text('Placement', 'spec.placement'),
    text('Kind', 'spec.sourceRef.kind'),
    text('Object', 'spec.sourceRef.name'),
    integer('Clusters', 'clusters.total'),
    integer('Stale', 'clusters.stale'),
    column('Results', object => records(object, 'results').map(resultText).join('; '), { field: 'results' }),
    { ...nameColumn, priority: 1 },
  ],
}

function columnsOf(object: Fields): string {
  const lists = ['groupBy', 'combinedFields', 'select'].flatMap(list => records(object, 'spec', list))
  return lists.map(one => str(one, 'name')).join(',')
}

/** The only row of a collector, or how many there are. */
function resultText(result: Fields): string {
  const rows = records(result, 'rows')
  const name = str(result, 'name')
  if (rows.length !== 1) return `${name}: ${at(result, 'totalRows') ?? 0} rows`
  const cells = records(rows[0], 'columns').map(cellText)
  return `${name}: ${strings(result, 'columnNames')
    .map((column, i) => `${column}=${cells[i]}`)
    .join(' ')}`
}

function cellText({ type, string, float, bool }: Fields): string {
  const plain = string ?? float ?? bool
  return plain === undefined ? String(type) : String(plain)
}

export const summaryPrinters: Readonly<Record<string, Printer>> = {
  'edge.kubestellar.io/statuscollectors': collectors,
  'edge.kubestellar.io/combinedstatuses': combined,
}
