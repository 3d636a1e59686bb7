/** A clone finds its sources wherever it lies, in threads too. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'

const HOOK = 'sourceImports.js'

t.test('in a folder whose name means something in a URL, and in a thread', async t => {
  const folder = join(t.testdir(), 'a #b%41?c')
  mkdirSync(folder)
  cpSync(join(PROGRAM_ROOT, 'src/program', HOOK), join(folder, HOOK))
  const files = {
    'package.json': '{"type":"module"}',
    'answer.ts': 'export const answer: number = 42',
    'thread.ts': "import { answer } from './answer.ts'\nconsole.log('thread', answer)",
    'main.js': `import { Worker } from 'node:worker_threads'
      const { answer } = await import('./answer.ts')
      console.log(answer)
      new Worker(new URL('thread.ts', import.meta.url))`,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const said = execFileSync(process.execPath, ['--require', join(folder, HOOK), join(folder, 'main.js')])
  t.equal(String(said), '42\nthread 42\n')
})

t.test('what is not there is named', async t => {
  const folder = t.testdir({ 'package.json': '{"type":"module"}', 'main.js': "import './none.ts'" })
  const run = () =>
    execFileSync(process.execPath, ['--require', join(PROGRAM_ROOT, 'src/program', HOOK), join(folder, 'main.js')], {
      stdio: 'pipe',
    })
  t.throws(run, /none\.ts/)
})
