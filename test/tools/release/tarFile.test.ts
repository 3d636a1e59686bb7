/** Archives of a release: what tar reads in them, and that they are the same each time. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type TarEntry, tarFile } from '../../../tools/release/tarFile.ts'

const DATE = new Date('2026-01-31T10:20:30Z')
const LONG = `${'folder/'.repeat(20)}file`
const ENTRIES: readonly TarEntry[] = [
  { path: 'usr/bin/tool', type: 'file', mode: 0o755, content: Buffer.from('x'.repeat(600)) },
  { path: 'usr/bin/other', type: 'link', to: 'tool' },
  { path: 'data', type: 'folder', mode: 0o700, uid: 65532, gid: 65532 },
  { path: LONG, type: 'file', content: Buffer.from('deep') },
]

t.test('tar lists what was put in, with owners, modes and times', async t => {
  const path = join(t.testdir(), 'x.tar')
  writeFileSync(path, tarFile(ENTRIES, DATE))
  const args = ['--list', '--verbose', '--numeric-owner', '--utc', '--full-time', '--file', path]
  const lines = execFileSync('tar', args, { encoding: 'utf8' })
    .split('\n')
    .map(line => line.replaceAll(/\s+/g, ' '))
  const at = '2026-01-31 10:20:30'
  for (const line of [
    `drwx------ 65532/65532 0 ${at} data/`,
    `drwxr-xr-x 0/0 0 ${at} usr/bin/`,
    `lrwxrwxrwx 0/0 0 ${at} usr/bin/other -> tool`,
    `-rwxr-xr-x 0/0 600 ${at} usr/bin/tool`,
    `-rw-r--r-- 0/0 4 ${at} ${LONG}`,
  ])
    t.ok(lines.includes(line), line)
  t.equal(execFileSync('tar', ['-xOf', path, LONG], { encoding: 'utf8' }), 'deep')
})

t.test('the same entries are the same bytes, in whatever order they come', async t => {
  t.ok(tarFile(ENTRIES, DATE).equals(tarFile([...ENTRIES].reverse(), DATE)))
  t.throws(() => tarFile([{ path: 'x'.repeat(300), type: 'folder' }], DATE), /too long for an archive/)
})
