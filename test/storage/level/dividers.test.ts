import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { dividersIn } from '../../../src/storage/level/dividers.ts'
import { SEED, Seeded } from '../../support/seeded.ts'
import { temporaryDir } from '../../support/temporaryDir.ts'

const root = temporaryDir(t)
const random = new Seeded(SEED)
const RANGE = { gte: 'o/', lt: 'o0' }

async function folderOf(name: string, rows: readonly string[], bytes = 1000): Promise<string> {
  const folder = join(root, name)
  const db = new Level<string, Buffer>(folder, { valueEncoding: 'buffer' })
  const noise = (): Buffer => Buffer.from(Array.from({ length: bytes }, () => random.number(256)))
  await db.batch(rows.map(key => ({ type: 'put', key, value: noise() })))
  await db.close()
  return folder
}

/** How many rows each part has. */
function sizes(rows: readonly string[], dividers: readonly string[]): number[] {
  const bounds = ['', ...dividers, '\u{10ffff}']
  return bounds.slice(1).map((lt, i) => rows.filter(row => row >= bounds[i]! && row < lt).length)
}

const digits = (i: number): string => String(i).padStart(9, '0')

for (const [name, rowOf] of [
  ['objects of one kind', (i: number) => `o/root\0\0configmaps\0default\0a-name-that-all-begin-with-${digits(i)}`],
  ['spaces', (i: number) => `o/${digits(i * 7919)}\0\0configmaps\0default\0kube-root-ca.crt`],
  ['names behind ASCII', (i: number) => `o/${i < 1500 ? 'a' : 'ä'}${digits(i)}\0\0configmaps\0default\0x`],
] as const)
  t.test(name, async t => {
    const rows = Array.from({ length: 3000 }, (_, i) => rowOf(i)).sort()
    const folder = await folderOf(name.replaceAll(' ', '-'), [...rows, 'm/state', 'v/0000000000000001'])
    const dividers = await dividersIn(folder, RANGE, 3)
    const found = sizes(rows, dividers)
    t.equal(
      found.reduce((a, b) => a + b),
      rows.length,
    )
    if (name === 'names behind ASCII') t.ok(found.length <= 3, found.join())
    else for (const size of found) t.ok(size > 800 && size < 1200, `parts of ${found.join()}`)
  })

t.test('what is little is not divided', async t => {
  t.strictSame(await dividersIn(await folderOf('none', []), RANGE, 3), [])
  const dividers = await dividersIn(await folderOf('one', ['o/a\0\0configmaps\0default\0x']), RANGE, 3)
  t.ok(sizes(['o/a\0\0configmaps\0default\0x'], dividers).includes(1))
})
