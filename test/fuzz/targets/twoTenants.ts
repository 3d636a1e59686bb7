/** Two tenants at a time do the same things under the same names: each finds what they wrote, and nothing of the other's. */
import fc from 'fast-check'
import { hostileText } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { Tenant, World } from '../world.ts'

const NAMES = ['a', 'b', 'c'] as const
const step = fc.record({
  who: fc.constantFrom<Tenant>('alice', 'bob'),
  what: fc.constantFrom('write', 'write', 'delete', 'list', 'steal', 'collection', 'impersonate'),
  name: fc.constantFrom(...NAMES),
  text: hostileText,
})
/** Each inner list is done at a time. */
const cases = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 })
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function play(world: World, rounds: readonly (readonly Step[])[]): Promise<void> {
  const mapsOf = (who: Tenant): string => `/clusters/${world.spaces[who]}/api/v1/namespaces/default/configmaps`
  const other = (who: Tenant): Tenant => (who === 'alice' ? 'bob' : 'alice')
  const label = 'labelSelector=two%3Dyes'
  const mine = async (who: Tenant): Promise<Map<string, string>> => {
    const { code, body } = await world.ask({ method: 'GET', path: `${mapsOf(who)}?${label}`, as: who })
    if (code !== 200) throw new Error(`${who} may not list their own: ${code}`)
    const items = body.items as { metadata: { name: string }; data: { owner: string } }[]
    return new Map(items.map(({ metadata, data }) => [metadata.name, data.owner]))
  }
  const act = async ({ who, what, name, text }: Step): Promise<void> => {
    const path = `${mapsOf(who)}/${name}`
    const type = 'application/apply-patch+yaml'
    if (what === 'write') {
      const object = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels: { two: 'yes' } },
        data: { owner: who, text },
      }
      const body = JSON.stringify(object)
      const { code } = await world.ask({
        method: 'PATCH',
        path: `${path}?fieldManager=f&force=true`,
        as: who,
        type,
        body,
      })
      // texts that are no Unicode are refused
      if (![200, 201, 400, 409].includes(code)) throw new Error(`${who} may not write their own: ${code}`)
    } else if (what === 'delete') await world.ask({ method: 'DELETE', path, as: who })
    else if (what === 'collection') await world.ask({ method: 'DELETE', path: `${mapsOf(who)}?${label}`, as: who })
    else if (what === 'list') await mine(who)
    else {
      const headers = what === 'impersonate' ? { 'Impersonate-User': other(who) } : {}
      const theirs = what === 'impersonate' ? mapsOf(who) : mapsOf(other(who))
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        const body = method === 'PATCH' ? '{"data":{"owner":"thief"}}' : undefined
        const type = 'application/merge-patch+json'
        const { code, text } = await world.ask({ method, path: `${theirs}/${name}`, as: who, headers, type, body })
        if (code !== 403 && !(what === 'impersonate' && code < 500))
          throw new Error(`${who} was let in: ${code} ${text}`)
      }
    }
  }
  for (const round of rounds) await Promise.all(round.map(act))
  for (const who of ['alice', 'bob'] as const) {
    for (const [name, owner] of await mine(who))
      if (owner !== who && owner !== 'thief') throw new Error(`${who} finds ${name} of ${owner}`)
    await world.ask({ method: 'DELETE', path: `${mapsOf(who)}?${label}`, as: who })
  }
}

export const twoTenants: Target = {
  name: 'twoTenants',
  runs: 50,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
