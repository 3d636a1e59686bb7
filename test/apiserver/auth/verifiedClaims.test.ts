// A signature is worked out once for each token and key.
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { SignJWT } from 'jose'
import t from 'tap'
import { BoundedCache } from '../../../src/apimachinery/boundedCache.ts'
import { type SignedTokens, verifiedClaims } from '../../../src/apiserver/auth/verifiedClaims.ts'

t.test('what is known of a token holds for the key that it is of', async t => {
  const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const [first, second] = [pair(), pair()]
  const publicKeys = new Map<string, KeyObject>([['k', first.publicKey]])
  const signed: SignedTokens = new BoundedCache(10)
  const token = await new SignJWT({ sub: 'a' }).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(first.privateKey)
  t.same(await verifiedClaims(token, { publicKeys }, signed), { sub: 'a' })
  t.equal(signed.size, 1)
  t.same(verifiedClaims(token, { publicKeys }, signed), { sub: 'a' }, 'at once')
  publicKeys.set('k', second.publicKey)
  await t.rejects(
    async () => verifiedClaims(token, { publicKeys }, signed),
    { message: 'Unauthorized' },
    'the key was replaced',
  )
  publicKeys.delete('k')
  await t.rejects(
    async () => verifiedClaims(token, { publicKeys }, signed),
    { message: 'Unauthorized' },
    'or taken away',
  )
  const forged = await new SignJWT({ sub: 'a' }).setProtectedHeader({ alg: 'ES256', kid: 'k' }).sign(second.privateKey)
  publicKeys.set('k', first.publicKey)
  await t.rejects(async () => verifiedClaims(forged, { publicKeys }, signed), { message: 'Unauthorized' })
  t.equal(signed.size, 1, 'what is refused is not kept')
})
