/** The tables of docs/reference/limits.md. Rooms export each limit with its default; the other cells are the page's own. */
import { LIMITS as objectModel } from '../../src/apimachinery/limits.ts'
import { LIMITS as server } from '../../src/apiserver/limits.ts'
import { LIMITS as commands } from '../../src/cli/limits.ts'
import { LIMITS as controllers } from '../../src/controllers/limits.ts'
import { LIMITS as kinds } from '../../src/kinds/limits.ts'
import { LIMITS as placement } from '../../src/placement/limits.ts'
import { LIMITS as store } from '../../src/storage/limits.ts'

export const LIMITS = [objectModel, placement, store, kinds, server, controllers, commands].flatMap(room =>
  Object.entries(room),
)
const DEFAULTS = new Map(LIMITS)

/** Lines of the tables, without their heads, by cell. */
export function limitRows(page: string): string[][] {
  return page
    .split('\n')
    .filter(line => /^\| (?!limit )/.test(line))
    .map(cellsOf)
}

/** The page with the defaults of the rooms. A row that no room knows stays as it is. */
export function withLimits(page: string): string {
  return limitRows(page).reduce((text, cells) => {
    const [limit = '', , ...others] = cells
    return text.replace(rowOf(cells), () => rowOf([limit, DEFAULTS.get(limit) ?? cells[1]!, ...others]))
  }, page)
}

const cellsOf = (line: string): string[] =>
  line
    .slice(2, -1)
    .split('| ')
    .map(cell => cell.trimEnd())
const rowOf = (cells: string[]): string => `| ${cells.map(cell => (cell === '' ? '' : `${cell} `)).join('| ')}|`
