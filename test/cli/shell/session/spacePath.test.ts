import t from 'tap'
import { parseTarget, resolveDots, splitPath } from '../../../../src/cli/shell/session/spacePath.ts'
import * as fc from '../../../support/fastCheck.ts'

t.test('an argument means what cd users expect', async t => {
  const absolute = (path: string, home = false) => ({ kind: 'absolute', path, home })
  const relative = (path: string) => ({ kind: 'relative', path })
  for (const [argument, meaning] of [
    [undefined, absolute('root', true)],
    ['~', absolute('root', true)],
    ['/home/u', absolute('root', true)],
    ['/home/u/a/b', absolute('root:a:b', true)],
    ['~:a', absolute('root:a', true)],
    ['root', absolute('root')],
    ['root:a', absolute('root:a')],
    [':root:a', absolute('root:a')],
    [':2zvje0mg8jvckvqb:x', absolute('2zvje0mg8jvckvqb:x')],
    ['a', relative('a')],
    ['a:b', relative('a:b')],
    ['a/b', relative('a:b')],
    ['..', relative('..')],
    ['../..', relative('..:..')],
    ['rooted', relative('rooted')],
    ['.', { kind: 'here' }],
    ['-', { kind: 'previous' }],
    [':', { kind: 'top' }],
  ] as const) {
    t.strictSame(parseTarget(argument, '/home/u'), meaning, String(argument))
  }
})

t.test('dots are resolved, and nobody gets above the root', async t => {
  t.equal(resolveDots('root:a:..:b:.:c'), 'root:b:c')
  t.equal(resolveDots('root:a:b:..:..'), 'root')
  t.throws(() => resolveDots('root:..'), { message: 'cannot go up from root', exitCode: 1 })
  t.throws(() => resolveDots('root:a:..:..'), { message: 'cannot go up from root' })
  for (const bad of ['root:A', 'root:', 'root::a', 'root:-a', `root:${'a'.repeat(64)}`, '', '.']) {
    t.throws(() => resolveDots(bad), { message: `invalid workspace path: ${bad}` }, bad)
  }
})

t.test('going down and up again leads back', async () => {
  const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?$/)
  fc.assert(
    fc.property(fc.array(name, { maxLength: 4 }), fc.array(name, { maxLength: 4 }), (start, way) => {
      const path = ['root', ...start].join(':')
      const there = [path, ...way].join(':')
      return resolveDots(there) === there && resolveDots([there, ...way.map(() => '..')].join(':')) === path
    }),
  )
})

t.test('a path is parent and name', async t => {
  t.strictSame(splitPath('root:a:b'), { parent: 'root:a', name: 'b' })
  t.strictSame(splitPath('root'), { parent: undefined, name: 'root' })
})
