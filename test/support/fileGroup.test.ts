/** Fate of a file among others in one process. */
import { join } from 'node:path'
import t from 'tap'
import { run } from './orrery.ts'

const GROUP = join(import.meta.dirname, 'fileGroup.ts')
const GOOD = `
  import t from 'tap'
  t.test('good', async t => t.pass('it is'))
`

/** Runs the files, in the order of their names. */
async function ran(dir: string, names: readonly string[]) {
  const paths = names.map(name => join(dir, `${name}.test.ts`))
  return await run(process.execPath, [GROUP], { env: { TEST_FILES: paths.join(' '), NODE_OPTIONS: '' } })
}

t.test('each file is a subtest of its own', async t => {
  const bad = `
    import t from 'tap'
    t.test('bad', async t => t.fail('it is not'))
  `
  const dir = t.testdir({ 'a.test.ts': GOOD, 'b.test.ts': bad, 'c.test.ts': GOOD })
  const { code, out } = await ran(dir, ['a', 'b', 'c'])
  t.equal(code, 1)
  t.match(out, /^1\.\.3$.*^ok 1 - .*a\.test\.ts.*^not ok 2 - .*b\.test\.ts.*^ok 3 - .*c\.test\.ts/ms)
})

t.test('what is thrown late, and what does not load, is told as the failure of its file', async t => {
  const late = `
    import t from 'tap'
    t.test('late', t => void setImmediate(() => { throw new Error('too late') }))
  `
  const dir = t.testdir({ 'a.test.ts': late, 'b.test.ts': "import './nowhere.ts'", 'c.test.ts': GOOD })
  const { code, out } = await ran(dir, ['a', 'b', 'c'])
  t.equal(code, 1)
  t.match(out, /not ok 1 - too late.*^not ok 1 - .*a\.test\.ts/ms)
  t.match(out, /nowhere\.ts.*^not ok 2 - .*b\.test\.ts.*^ok 3 - .*c\.test\.ts/ms)
})

t.test('a file that ends the process fails, and those after it are missed', async t => {
  const end = `
    import t from 'tap'
    t.test('end', async () => process.exit(0))
  `
  const dir = t.testdir({ 'a.test.ts': GOOD, 'b.test.ts': end, 'c.test.ts': GOOD })
  const { code, out } = await ran(dir, ['a', 'b', 'c'])
  t.not(code, 0)
  t.match(out, /^1\.\.3$.*^ok 1 - .*a\.test\.ts.*^not ok 2 - .*b\.test\.ts/ms)
  t.notMatch(out, /^ok 3/m)
})

t.test('whatever is thrown late ends the test that began it, and no other', async t => {
  const bad = `
    import { readFile } from 'node:fs'
    import { connect, createServer } from 'node:net'
    import t from 'tap'
    const fails = why => { throw new Error(why) }
    const never = begin => () => new Promise(() => void begin())
    t.test('waits', async t => {
      let go
      const over = new Promise(resolve => { go = resolve })
      t.test('inner', never(() => setTimeout(() => { go(); fails('of a timer') }, 5)))
      await over
    })
    t.test('rejects', never(async () => { await null; fails('of a promise') }))
    t.test('reads', never(() => readFile('/dev/null', () => fails('of a file'))))
    t.test('serves', never(() => {
      const server = createServer(socket => { server.close(); socket.destroy(); fails('of a server') })
      server.listen(0, '127.0.0.1', () => connect(server.address().port, '127.0.0.1').on('error', () => {}))
    }))
    t.test('emits', never(() => process.nextTick(fails, 'of a tick')))
    t.test('passes', async t => t.pass('still'))
  `
  const dir = t.testdir({ 'a.test.ts': GOOD, 'b.test.ts': bad, 'c.test.ts': GOOD })
  const { code, out } = await ran(dir, ['a', 'b', 'c'])
  t.equal(code, 1)
  const failed = [
    ['inner', 'timer'],
    ['rejects', 'promise'],
    ['reads', 'file'],
    ['serves', 'server'],
    ['emits', 'tick'],
  ] as const
  for (const [name, what] of failed)
    t.match(out, new RegExp(`# Subtest: ${name}\\n +not ok 1 - of a ${what}$.*^ +not ok \\d - ${name} `, 'ms'))
  t.match(out, /^ +ok 6 - passes.*^not ok 2 - .*b\.test\.ts.*^ok 3 - .*c\.test\.ts/ms)
})

t.test('a test that hangs fails by its name, and those behind it run', async t => {
  // an hour passes with each look at the clock
  const silent = `
    import { createServer } from 'node:net'
    import t from 'tap'
    t.test('outer', async t => {
      t.test('hangs', async t => {
        createServer().listen(0, '127.0.0.1')
        const { now } = performance
        let aheadMs = 0
        performance.now = () => now.call(performance) + (aheadMs += 3_600_000)
        t.teardown(() => (performance.now = now))
        await new Promise(() => {})
      })
      t.test('sibling', async t => t.pass('it runs'))
    })
  `
  const empty = `
    import t from 'tap'
    t.test('waits for nothing', async t => await new Promise(() => {}))
  `
  const dir = t.testdir({ 'a.test.ts': empty, 'b.test.ts': silent, 'c.test.ts': GOOD })
  const { code, out } = await ran(dir, ['a', 'b', 'c'])
  t.equal(code, 1)
  t.match(out, /the event loop is empty.*not ok 1 - waits for nothing.*^not ok 1 - .*a\.test\.ts/ms)
  t.match(out, /no assertion for 600 s.*not ok 1 - hangs .* ok 2 - sibling.*^not ok 2 - .*b\.test\.ts/ms)
  t.match(out, /^ok 3 - .*c\.test\.ts/m)
})
