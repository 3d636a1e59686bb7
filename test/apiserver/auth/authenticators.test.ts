/** All authenticators of a server, as it puts them together. */
import t from 'tap'
import { authenticators } from '../../../src/apiserver/auth/authenticators.ts'
import { TokenIssuer } from '../../../src/apiserver/auth/serviceAccountTokens.ts'
import { newKeyPem } from '../../../src/apiserver/pki/issue.ts'
import { EVERYTHING_ACTS } from '../../../src/placement/spaces/nature.ts'

t.test("a static token is good for the server's own audiences, as a TokenReview asks for them", async t => {
  const issuer = new TokenIssuer({ clock: Date.now, signingKeyPem: await newKeyPem() })
  const getObject = async (): Promise<undefined> => undefined
  const all = await authenticators({
    issuer,
    getObject,
    nature: EVERYTHING_ACTS,
    tokenFile: 'token,ann,1\n',
    oidc: undefined,
  })
  const [own] = issuer.audiences
  t.match(await all.authenticate({ token: 'token', audiences: ['other', own!] }), {
    user: { name: 'ann' },
    audiences: [own],
  })
  await t.rejects(async () => all.authenticate({ token: 'token', audiences: ['other'] }), { message: 'Unauthorized' })
})
