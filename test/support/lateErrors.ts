/**
 * Errors that are thrown late, in callbacks or in promises that nobody catches, belong to the test that began them.
 * In {@link fileGroup.ts} this takes the place of tap's own `async-hook-domain`, which follows every promise with hooks.
 * They cost a fifth of the processor time of a test with a server; Node's AsyncLocalStorage costs nothing.
 */
import { AsyncLocalStorage, AsyncResource, executionAsyncResource } from 'node:async_hooks'

type Report = (error: unknown, event: string) => void

const current = new AsyncLocalStorage<Domain>()
/** Tests that run, the latest last: it gets the error whose context is lost. */
const begun: Domain[] = []

/** As tap makes it: within the resource of its test, or at the top for errors outside of all tests. */
export class Domain {
  readonly onerror: Report
  readonly parent: Domain | undefined
  destroyed = false

  constructor(onerror: Report) {
    this.onerror = onerror
    this.parent = current.getStore()
    const resource = executionAsyncResource()
    if (resource instanceof AsyncResource && 'test' in resource) this.#follow(resource)
    else begun.unshift(this)
  }

  destroy(): void {
    this.destroyed = true
    const at = begun.indexOf(this)
    if (at >= 0) begun.splice(at, 1)
  }

  /** All that runs in the resource is of this test. */
  #follow(resource: AsyncResource): void {
    const run = resource.runInAsyncScope
    resource.runInAsyncScope = (work, self, ...args) => {
      if (!this.destroyed && !begun.includes(this)) begun.push(this)
      return run.call(resource, () => current.run(this, () => Reflect.apply(work, self, args))) as never
    }
  }
}

/** The test of the context, or who is above it when it has ended. */
function ownerOfError(): Domain | undefined {
  let domain = current.getStore()
  while (domain?.destroyed) domain = domain.parent
  return domain ?? begun.at(-1)
}

/** Whether a test has taken the error for its own. */
function reported(error: unknown, event: string): boolean {
  if (process.hasUncaughtExceptionCaptureCallback() || process.listenerCount('uncaughtException') > 0) return false
  const domain = ownerOfError()
  domain?.onerror(error, event)
  return domain !== undefined
}

process.on('uncaughtExceptionMonitor', (error, event) => {
  if (!reported(error, event)) return
  // else the process would end
  process.setUncaughtExceptionCaptureCallback(() => process.setUncaughtExceptionCaptureCallback(null))
})

const { emit } = process
process.emit = ((event: string, ...args: unknown[]): boolean => {
  if (event === 'unhandledRejection' && process.listenerCount(event) === 0) return reported(args[0], event)
  return Reflect.apply(emit, process, [event, ...args]) as boolean
}) as typeof process.emit
