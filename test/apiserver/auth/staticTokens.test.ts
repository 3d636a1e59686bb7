import t from 'tap'
import { StaticTokenAuthenticator } from '../../../src/apiserver/auth/staticTokens.ts'

const csv = 't1,ann,1,"dev,ops"\r\n\nt2, bob ,2\nt3,eve,3,system:masters\n"q""t","d,d",4,"g"\n,nobody,5\n'

t.test('lines of a token file', async t => {
  const authenticator = new StaticTokenAuthenticator(csv, { audiences: ['api'] })
  const who = async (token: string) => (await authenticator.authenticate({ token }))?.user
  t.same(await who('t1'), { name: 'ann', uid: '1', groups: ['dev', 'ops', 'system:authenticated'] })
  t.same((await who('t2'))?.groups, ['system:authenticated'])
  t.same((await who('t3'))?.groups, ['system:masters', 'system:authenticated'])
  t.match(await who('q"t'), { name: 'd,d', groups: ['g', 'system:authenticated'] })
  t.equal(await who(''), undefined)
  t.equal(await who('t'), undefined)
})

t.test('tokens are for the API server only', async t => {
  const authenticator = new StaticTokenAuthenticator(csv, { audiences: ['api'] })
  t.same((await authenticator.authenticate({ token: 't1', audiences: ['x', 'api'] }))?.audiences, ['api'])
  t.equal(await authenticator.authenticate({ token: 't1', audiences: ['x'] }), undefined)
})

t.test('a short line is an error that does not show the token', async t => {
  t.throws(
    () => new StaticTokenAuthenticator('secret,ann', { path: '/f.csv' }),
    new Error("token file '/f.csv', line 1 must have at least 3 columns (token, user name, user uid), found 2"),
  )
})

t.test('a quote that is open, or stands in a field, is told by line and column', async t => {
  for (const [line, column] of [
    ['secret,ann,1,"dev', 14],
    ['secret,a"nn,1', 8],
    ['secret,ann,1,"dev"ops', 14],
  ] as const) {
    t.throws(
      () => new StaticTokenAuthenticator(`x,y,z\n\n${line}\n`, { path: '/f.csv' }),
      new Error(
        `token file '/f.csv', line 3, column ${column}: a quote that is not closed, or in the middle of a field`,
      ),
      line,
    )
  }
})
