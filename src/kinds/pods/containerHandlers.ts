/** Probes and lifecycle hooks of containers. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, num, record, records, str } from '../../apimachinery/fields.ts'
import { invalidBy, nonNegative, portNumber, portOrName, required } from '../checks.ts'
import type { PodScope } from './podScope.ts'

/** Fields of containers that keep running alone. */
export const RUNNING_ONLY = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const

/** Lifecycle and probes. @param path the container's */
export function validateRunning(container: Fields, path: string, scope: PodScope): FieldError[] {
  return [...validateLifecycle(container, `${path}.lifecycle`, scope), ...validateProbes(container, path, scope)]
}

function validateLifecycle(container: Fields, path: string, scope: PodScope): FieldError[] {
  const lifecycle = record(container, 'lifecycle')
  const errors = ['postStart', 'preStop']
    .filter(hook => has(lifecycle, hook))
    .flatMap(hook => validateHandler(record(lifecycle, hook), `${path}.${hook}`, scope))
  if (!has(lifecycle, 'stopSignal')) return errors
  return [...errors, ...stopSignal(str(lifecycle, 'stopSignal'), `${path}.stopSignal`, scope.spec)]
}

const SIGNALS: readonly string[] = [
  ...['SIGABRT', 'SIGALRM', 'SIGBUS', 'SIGCHLD', 'SIGCLD', 'SIGCONT', 'SIGFPE', 'SIGHUP', 'SIGILL', 'SIGINT', 'SIGIO'],
  ...['SIGIOT', 'SIGKILL', 'SIGPIPE', 'SIGPOLL', 'SIGPROF', 'SIGPWR', 'SIGQUIT'],
  ...['SIGRTMAX', ...Array.from({ length: 14 }, (_, i) => `SIGRTMAX-${i + 1}`)],
  ...['SIGRTMIN', ...Array.from({ length: 15 }, (_, i) => `SIGRTMIN+${i + 1}`)],
  ...['SIGSEGV', 'SIGSTKFLT', 'SIGSTOP', 'SIGSYS', 'SIGTERM', 'SIGTRAP', 'SIGTSTP', 'SIGTTIN', 'SIGTTOU', 'SIGURG'],
  ...['SIGUSR1', 'SIGUSR2', 'SIGVTALRM', 'SIGWINCH', 'SIGXCPU', 'SIGXFSZ'],
].sort()

/** The valid signals depend on the operating system, which is required then. */
function stopSignal(signal: string, field: string, spec: Fields): FieldError[] {
  if (!has(spec, 'os')) {
    return [fieldError.forbidden(field, 'may not be set for containers with empty `spec.os.name`')]
  }
  const supported = str(spec, 'os', 'name') === 'windows' ? ['SIGKILL', 'SIGTERM'] : SIGNALS
  return supported.includes(signal) ? [] : [fieldError.notSupported(field, signal, supported)]
}

function validateProbes(container: Fields, path: string, scope: PodScope): FieldError[] {
  return RUNNING_ONLY.slice(1)
    .filter(name => has(container, name))
    .flatMap(name => validateProbe(record(container, name), `${path}.${name}`, name === 'readinessProbe', scope))
}

const COUNTS = ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold']

function validateProbe(probe: Fields, path: string, readiness: boolean, scope: PodScope): FieldError[] {
  const errors = [...validateHandler(probe, path, scope), ...nonNegative(probe, path, ...COUNTS)]
  const grace = num(probe, 'terminationGracePeriodSeconds')
  if (has(probe, 'terminationGracePeriodSeconds')) {
    const field = `${path}.terminationGracePeriodSeconds`
    if (grace <= 0) errors.push(fieldError.invalid(field, grace, 'must be greater than 0'))
    if (readiness) errors.push(fieldError.invalid(field, grace, 'must not be set for readinessProbes'))
  }
  if (!readiness && num(probe, 'successThreshold') !== 1) {
    errors.push(fieldError.invalid(`${path}.successThreshold`, num(probe, 'successThreshold'), 'must be 1'))
  }
  return errors
}

const HANDLERS: Readonly<Record<string, (action: Fields, path: string, scope: PodScope) => FieldError[]>> = {
  exec: (action, path) => (list(action, 'command').length === 0 ? [fieldError.required(`${path}.command`)] : []),
  httpGet: (action, path) => [
    ...required(action, path, 'path'),
    ...portOrName(action.port, `${path}.port`),
    ...(['HTTP', 'HTTPS'].includes(str(action, 'scheme'))
      ? []
      : [fieldError.notSupported(`${path}.scheme`, str(action, 'scheme'), ['HTTP', 'HTTPS'])]),
    ...records(action, 'httpHeaders').flatMap(header =>
      invalidBy(httpHeaderName, str(header, 'name'), `${path}.httpHeaders`),
    ),
  ],
  tcpSocket: (action, path) => portOrName(action.port, `${path}.port`),
  grpc: (action, path) => portNumber(action.port ?? 0, `${path}.port`),
  sleep: (action, path, { gracePeriod }) => {
    const seconds = num(action, 'seconds')
    if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return []
    const detail = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
    return [fieldError.invalid(path, seconds, detail)]
  },
}

function validateHandler(handler: Fields, path: string, scope: PodScope): FieldError[] {
  const [first, ...more] = Object.keys(HANDLERS).filter(name => has(handler, name))
  if (first === undefined) return [fieldError.required(path, 'must specify a handler type')]
  return [
    ...HANDLERS[first]!(record(handler, first), `${path}.${first}`, scope),
    ...more.map(name => fieldError.forbidden(`${path}.${name}`, 'may not specify more than 1 handler type')),
  ]
}

function httpHeaderName(value: string): string[] {
  if (/^[-A-Za-z0-9]+$/.test(value)) return []
  return [
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
  ]
}
