/** The rooms of the code, computed from the dependency rules: a dot is an import that the rules allow. */
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Picture } from './svg.ts'

const ROOT = join(import.meta.dirname, '../..')

export interface Rule {
  readonly name: string
  readonly from: { readonly path?: string }
  readonly to: { readonly path?: string }
}
export type Leave = 'all' | 'part' | 'none'

const ORDERED = /^(src\/[^/]+|openapi): only what stands before it$/
const TEXTS: Readonly<Record<string, string>> = {
  'src/program': 'files, threads, data of the program',
  openapi: 'definitions of all built-in kinds',
  'src/apimachinery': "Kubernetes' object model, pure",
  'src/placement': 'the language of placement, pure',
  'src/storage': 'one ordered log of bytes',
  'src/client': 'client contract, informers, queues',
  'src/kinds': 'rules of each built-in kind',
  'src/apiserver': 'HTTP, access, admission, registry',
  'src/controllers': 'one folder for each controller',
  'src/syncer': 'one mailbox, one cluster',
  'src/cli': 'orrery, kubectl ws, kubectl kubestellar',
}

export function dependencyRules(): readonly Rule[] {
  return createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')).forbidden
}

/** In their order, as the rules have it. */
export function roomsOf(rules: readonly Rule[]): string[] {
  return rules.flatMap(({ name }) => ORDERED.exec(name)?.[1] ?? [])
}

/** How far files of one room may import files of the other one. */
export function leave(rules: readonly Rule[], from: readonly string[], to: readonly string[]): Leave {
  let result: Leave = 'all'
  for (const rule of rules) {
    if (rule.from.path === undefined || rule.to.path === undefined) continue
    const sources = matching(from, rule.from.path)
    const targets = matching(to, rule.to.path)
    if (sources === 0 || targets === 0) continue
    if (sources === from.length && targets === to.length) return 'none'
    result = 'part'
  }
  return result
}

export function rooms(): Picture {
  const rules = dependencyRules()
  const names = roomsOf(rules)
  const files = new Map(names.map(room => [room, filesOf(room)]))
  const [top, left, step] = [110, 400, 34]
  const size = names.length * step
  const picture = new Picture(
    left + size + 20,
    top + size + 40,
    'The rooms of the code and the imports that the rules allow',
  )
  picture.text([10, top - 14], 'a room …', 'small').text([left - 8, 22], '… may import', 'small', 'end')
  names.forEach((room, row) => {
    const y = top + row * step
    picture.text([10, y + 21], room, 'mono').text([150, y + 21], TEXTS[room] ?? '', 'small')
    picture.line([10, y], [left + size, y], 'soft')
    picture.text([left + row * step + 17, top - 12 - (row % 4) * 20], room.replace('src/', ''), 'small', 'middle')
    names.forEach((other, column) => {
      if (other === room) return
      const may = leave(rules, files.get(room)!, files.get(other)!)
      if (may !== 'none')
        picture.dot([left + column * step + 17, y + 17], may === 'all' ? 7 : 5, may === 'all' ? 'good' : 'warn')
    })
  })
  return picture.text(
    [10, top + size + 24],
    'green: allowed; yellow: with exceptions. Computed from .dependency-cruiser.cjs, which npm run check enforces.',
    'small',
  )
}

function filesOf(room: string): string[] {
  return readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.[jt]s$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
}

function matching(files: readonly string[], pattern: string): number {
  const expression = new RegExp(pattern)
  return files.filter(file => expression.test(file)).length
}
