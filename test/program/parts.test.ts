/** The scripts of which the one file is made. */
import t from 'tap'
import { codeName, Parts } from '../../src/program/parts.ts'

function partsOf(files: Record<string, string | Buffer>): Parts {
  return new Parts({ read: name => Buffer.from(files[name]!), has: name => name in files })
}

const wrapped = (text: string): string => `(function(exports,require,module){${text}})`

t.test('a part loads what Node brings and other parts, and runs once', async t => {
  const parts = partsOf({
    'a.cjs': wrapped('exports.b = require("orrery:b"); exports.sep = require("node:path").sep'),
    'b.cjs': wrapped('globalThis.runsOfB = (globalThis.runsOfB ?? 0) + 1; module.exports = "of b"'),
  })
  t.match(parts.load('a'), { b: 'of b', sep: '/' })
  parts.load('b')
  t.equal((globalThis as { runsOfB?: number }).runsOfB, 1)
})

t.test('a library that is not there is not there, as libraries expect it', async t => {
  const parts = partsOf({ 'a.cjs': wrapped('try { require("bufferutil") } catch (e) { exports.code = e.code }') })
  t.match(parts.load('a'), { code: 'MODULE_NOT_FOUND' })
})

t.test('the code that was made before is taken', async t => {
  const files: Record<string, string | Buffer> = { 'a.cjs': wrapped('exports.x = 1') }
  const first = partsOf(files)
  first.load('a')
  files[codeName('a')] = first.scripts.get('a')!.createCachedData()
  const second = partsOf(files)
  second.load('a')
  t.equal(second.scripts.get('a')!.cachedDataRejected, false)
})
