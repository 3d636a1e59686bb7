/** At the port for a host's front proxy: who is none, and users of the host in masses. */
import type { PemPair } from '../../../src/apiserver/pki/issue.ts'
import { Authority, PROXY_NAME } from '../../support/frontProxy.ts'
import { type Attack, attack } from '../attack.ts'
import { type Access, openAgent } from '../attacker.ts'
import { crowd, type Ground } from '../ground.ts'

const SPACES = '/apis/tenancy.kcp.io/v1alpha1/spaces'
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const SECRETS = '/api/v1/namespaces/default/secrets'
const MASTERS = {
  'X-Remote-User': 'system:admin',
  'X-Remote-Group': 'system:masters',
  'X-Remote-Extra-Scopes': 'cluster:root',
  'Impersonate-User': 'system:admin',
}

function shown({ certPem: cert, keyPem: key }: PemPair, token = ''): Access {
  return { agent: openAgent({ maxSockets: 16, cert, key }), token }
}

/** Everything that somebody may hold, but the certificate of the front proxy. */
async function forgeries(ground: Ground): Promise<Record<string, Access>> {
  const {
    host: { authority },
    admin,
  } = ground
  const { cert = '', key = '' } = admin.access
  const stranger = await Authority.make()
  const account = await ground.accountToken(`forger-${performance.now()}`)
  return {
    nothing: { token: '' },
    'a token of a user': { token: 'token-of-alice' },
    'a token of a ServiceAccount': { token: account },
    'a certificate of the server, of its administrator': shown({ certPem: cert, keyPem: key }, account),
    'the right name, by another authority': shown(await stranger.client(), account),
    'another name, by the right authority': shown(await authority.client('kubelet'), account),
    'the right name, ended': shown(await authority.client(PROXY_NAME, -1)),
    'the authority itself': shown(authority.ca),
  }
}

export const host: readonly Attack[] = [
  attack('forged-users', {
    does: 'X-Remote headers of an administrator with every certificate and token but that of the front proxy, at both ports',
    run: async ground => {
      const { alice, space, size, frontUrl, url } = ground
      for (const [what, access] of Object.entries(await forgeries(ground))) {
        const atFront = alice.as(frontUrl, access)
        await crowd(size(400, 4), 16, async i => {
          const path = [`${SPACES}/${space.path}/proxy${SECRETS}`, SPACES, `${EDGE}/edgeplacements`, '/apis'][i % 4]!
          const { code } = await atFront.send({ path, headers: MASTERS })
          if (code > 0 && code < 400) alice.faults.push(`${what} was answered ${code} at ${path}`)
        })
        // as somebody they are who they are there, and in no group more
        const { code, text } = await alice.as(url, access).send({ path: `/clusters/root${SECRETS}`, headers: MASTERS })
        if (!what.includes('administrator') && code < 400) alice.faults.push(`${what} was answered ${code}: ${text}`)
      }
    },
    hears: [401],
  }),
  attack('forwarded-crowd', {
    does: '4,000 users of the host in turn by one connection, who may enter no space, and say 60 groups each',
    run: async ({ alice, host: { authority }, space, size, frontUrl }) => {
      const proxy = alice.as(frontUrl, shown(await authority.client()))
      const groups = Array.from({ length: 60 }, (_, i) => `group-${i}`)
      await crowd(size(4000, 20), 16, async i => {
        const headers = { 'X-Remote-User': `user-${i}`, 'X-Remote-Group': groups } as unknown as Record<string, string>
        const { code } = await proxy.send({ path: `${SPACES}/${space.path}/proxy${SECRETS}`, headers })
        if (code > 0 && code < 400) alice.faults.push(`user-${i} was answered ${code}`)
      })
    },
    hears: [403],
    keepsMb: 40,
  }),
]
