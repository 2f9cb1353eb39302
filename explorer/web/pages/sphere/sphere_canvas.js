// Points on a circle or a sphere, on a canvas: each with the way that it came, partners joined. A hand drags a
// point, or turns the sphere; so do the arrow keys. It knows nothing of losses.
import { themeColour } from "../../kit/colours.js";
import { contextOf, h, magnification } from "../../kit/dom.js";
import { onTheme } from "../../kit/theme.js";

/**
 * A film of `count` points in so many dimensions, all frames one after the other; `pairs` are partners by place.
 * @typedef {{ points: Float32Array, count: number, dimension: number, classes: number[], pairs: number[][] }} PointCloud
 * @typedef {{ frame: number, pointed: number | null, turn: [number, number] }} View
 * @typedef {{ point: (point: number | null) => void, turn: (turn: [number, number]) => void,
 *   move: (point: number, azimuth: number, polar: number) => void }} Hand
 * @typedef {[number, number, number]} Place right, up, and towards the viewer
 */

const TRAIL_FRAMES = 16; // frames of the way that a point came
const REACH_PX = 16; // pixels within which a point is taken
export const POINT_RADIUS = 5;
const MARGIN_PX = 14;
export const CLASS_COLOURS = 6; // of classes, of which a seventh has the first one's
const CIRCLE_SIDES = 72; // sides of a circle that is drawn on the sphere
const KEY_MOVE_RADIANS = Math.PI / 36; // that an arrow key moves a point by
const KEY_TURN_DEGREES = 15; // degrees that it turns the sphere by
const DEGREE = Math.PI / 180;
const TENTHS = 10 / DEGREE; // of a degree in a radian

/**
 * @param {HTMLElement} root
 * @param {Hand} hand
 */
export function sphereCanvas(root, hand) {
  const canvas = h("canvas.lp-ball", { tabIndex: 0 });
  canvas.setAttribute("role", "application");
  root.append(canvas);
  /** @type {PointCloud | null} */
  let cloud = null;
  /** @type {View} */
  let view = { frame: 0, pointed: null, turn: [0, 0] };
  /** @type {{ point: number, at: Place } | null} */
  let dragged = null;
  let colours = coloursNow();

  /** @type {(point: number, frame: number) => Place} */
  const seen = (point, frame) => placeInView(/** @type {PointCloud} */ (cloud), point, frame, view.turn);

  function draw() {
    const side = canvas.clientWidth;
    if (!cloud || !side) return;
    const ratio = (window.devicePixelRatio || 1) * magnification(canvas);
    const size = Math.round(side * ratio);
    if (canvas.width !== size) Object.assign(canvas, { width: size, height: size });
    const context = contextOf(canvas);
    const radius = side / 2 - MARGIN_PX;
    context.setTransform(ratio, 0, 0, ratio, (side / 2) * ratio, (side / 2) * ratio);
    context.clearRect(-side / 2, -side / 2, side, side);
    context.lineWidth = 1;
    context.strokeStyle = colours.line;
    context.beginPath();
    context.arc(0, 0, radius, 0, 2 * Math.PI);
    context.stroke();
    if (cloud.dimension === 3) drawCircles(context, radius);
    const places = Array.from({ length: cloud.count }, (_, point) =>
      dragged?.point === point ? dragged.at : seen(point, view.frame),
    );
    drawPairs(context, radius, places, cloud.pairs);
    drawTrails(context, radius);
    drawPoints(context, radius, places);
  }

  /** @type {(context: CanvasRenderingContext2D, radius: number) => void} */
  function drawCircles(context, radius) {
    context.globalAlpha = 0.6;
    for (const axis of [0, 1, 2]) {
      context.beginPath();
      for (let i = 0; i <= CIRCLE_SIDES; i += 1) {
        const [a, b] = [Math.cos((2 * Math.PI * i) / CIRCLE_SIDES), Math.sin((2 * Math.PI * i) / CIRCLE_SIDES)];
        const on = axis === 0 ? [0, a, b] : axis === 1 ? [a, 0, b] : [a, b, 0];
        const [x, y] = turned(on[0], on[1], on[2], view.turn);
        context.lineTo(x * radius, -y * radius);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** @type {(context: CanvasRenderingContext2D, radius: number, places: Place[], pairs: number[][]) => void} */
  function drawPairs(context, radius, places, pairs) {
    context.strokeStyle = colours.faint;
    context.globalAlpha = 0.35;
    context.beginPath();
    for (const [one, other] of pairs) {
      context.moveTo(places[one][0] * radius, -places[one][1] * radius);
      context.lineTo(places[other][0] * radius, -places[other][1] * radius);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  /** @type {(context: CanvasRenderingContext2D, radius: number) => void} */
  function drawTrails(context, radius) {
    const { count, classes } = /** @type {PointCloud} */ (cloud);
    const first = Math.max(0, view.frame - TRAIL_FRAMES);
    context.lineWidth = 2;
    for (let point = 0; point < count; point += 1) {
      context.strokeStyle = colours.sides[classes[point] % CLASS_COLOURS];
      context.globalAlpha = seen(point, view.frame)[2] < 0 ? 0.12 : 0.35;
      context.beginPath();
      for (let frame = first; frame <= view.frame; frame += 1) {
        const [x, y] = seen(point, frame);
        context.lineTo(x * radius, -y * radius);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** @type {(context: CanvasRenderingContext2D, radius: number, places: Place[]) => void} */
  function drawPoints(context, radius, places) {
    const { classes } = /** @type {PointCloud} */ (cloud);
    const order = places.map((_place, point) => point).sort((one, other) => places[one][2] - places[other][2]);
    for (const point of order) {
      const [x, y, depth] = places[point];
      context.fillStyle = colours.sides[classes[point] % CLASS_COLOURS];
      context.globalAlpha = depth < 0 ? 0.35 : 1;
      context.beginPath();
      context.arc(x * radius, -y * radius, POINT_RADIUS * (1 + 0.25 * depth), 0, 2 * Math.PI);
      context.fill();
      if (point !== view.pointed) continue;
      context.globalAlpha = 1;
      context.strokeStyle = colours.ink;
      context.beginPath();
      context.arc(x * radius, -y * radius, POINT_RADIUS + 4, 0, 2 * Math.PI);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /**
   * Where the pointer is, with the radius as unit.
   * @param {{ clientX: number, clientY: number }} event
   */
  function under(event) {
    const box = canvas.getBoundingClientRect();
    const radius = box.width / 2 - MARGIN_PX * magnification(canvas);
    return {
      x: (event.clientX - box.left - box.width / 2) / radius,
      y: -(event.clientY - box.top - box.height / 2) / radius,
      near: REACH_PX / radius,
    };
  }

  /** @param {{ clientX: number, clientY: number }} event */
  function nearest(event) {
    if (!cloud) return null;
    const { x, y, near } = under(event);
    let found = null;
    let least = near;
    for (let point = 0; point < cloud.count; point += 1) {
      const [a, b, depth] = seen(point, view.frame);
      const far = Math.hypot(a - x, b - y) + (depth < 0 ? near / 2 : 0); // the front before the back
      if (far < least) [found, least] = [point, far];
    }
    return found;
  }

  /** @param {number} point @param {Place} at */
  function put(point, at) {
    const flat = cloud?.dimension === 2;
    const [x, y, z] = flat ? at : unturned(at, view.turn);
    const around = Math.atan2(y, x) * TENTHS;
    hand.move(point, Math.round(around + 3600) % 3600, flat ? 900 : Math.round(Math.acos(clamped(z)) * TENTHS));
  }

  byPointer();
  byKeys();

  function byPointer() {
    /** @type {{ x: number, y: number, turn: [number, number] } | null} */
    let turning = null;
    // A finger beside the points scrolls the page up and down.
    canvas.addEventListener("touchstart", (event) => nearest(event.touches[0]) !== null && event.preventDefault(), {
      passive: false,
    });
    canvas.addEventListener("pointerdown", (event) => {
      const point = nearest(event);
      hand.point(point);
      if (point !== null) dragged = { point, at: seen(point, view.frame) };
      else if (cloud?.dimension === 3) turning = { x: event.clientX, y: event.clientY, turn: view.turn };
      else return;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (dragged) {
        const { x, y } = under(event);
        dragged.at = nearestOnFront(x, y, cloud?.dimension === 2);
        draw();
      } else if (turning) {
        const per = 180 / canvas.getBoundingClientRect().width;
        const around = turning.turn[0] + (event.clientX - turning.x) * per;
        const down = turning.turn[1] + (event.clientY - turning.y) * per;
        hand.turn([Math.round(around) % 360, Math.round(Math.max(-90, Math.min(90, down)))]);
      } else if (event.pointerType === "mouse") hand.point(nearest(event));
    });
    const drop = () => {
      const was = dragged;
      [dragged, turning] = [null, null];
      const from = was && seen(was.point, view.frame);
      if (was && from && Math.hypot(was.at[0] - from[0], was.at[1] - from[1]) > 0.01) put(was.point, was.at);
      else draw();
    };
    canvas.addEventListener("pointerup", drop);
    canvas.addEventListener("pointercancel", () => {
      [dragged, turning] = [null, null];
      draw();
    });
  }

  function byKeys() {
    canvas.addEventListener("keydown", (event) => {
      const across = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
      const up = Number(event.key === "ArrowUp") - Number(event.key === "ArrowDown");
      if (!cloud || !(across || up)) return;
      event.preventDefault();
      const now = view.pointed ?? 0;
      if (event.shiftKey) put(now, pushed(seen(now, view.frame), across, up, cloud.dimension === 2));
      else if (across) hand.point(view.pointed === null ? 0 : (now + across + cloud.count) % cloud.count);
      else hand.turn([(view.turn[0] + up * KEY_TURN_DEGREES) % 360, view.turn[1]]);
    });
  }

  onTheme(() => {
    colours = coloursNow();
    draw();
  });
  new ResizeObserver(draw).observe(canvas);
  return {
    canvas,
    /** @type {(next: PointCloud, seenAs: View) => void} */
    show(next, seenAs) {
      [cloud, view] = [next, seenAs];
      draw();
    },
  };
}

const coloursNow = () => ({
  line: themeColour("line"),
  faint: themeColour("faint"),
  ink: themeColour("ink"),
  sides: Array.from({ length: CLASS_COLOURS }, (_, i) => themeColour(`side-${i + 1}`)),
});

/** @param {number} value */
const clamped = (value) => Math.max(-1, Math.min(1, value));

/**
 * Where a point is seen in a frame.
 * @param {Pick<PointCloud, "points" | "count" | "dimension">} cloud
 * @param {number} point
 * @param {number} frame
 * @param {[number, number]} turn
 * @returns {Place}
 */
export function placeInView({ points, count, dimension }, point, frame, turn) {
  const from = (frame * count + point) * dimension;
  if (dimension === 2) return [points[from], points[from + 1], 0];
  return turned(points[from], points[from + 1], points[from + 2], turn);
}

/**
 * A place on the sphere as the viewer has it, who has turned it by so many degrees.
 * @type {(x: number, y: number, z: number, turn: [number, number]) => Place}
 */
function turned(x, y, z, turn) {
  const [around, down] = turn.map((one) => one * DEGREE);
  const right = Math.cos(around) * x - Math.sin(around) * y;
  const away = Math.sin(around) * x + Math.cos(around) * y;
  return [right, Math.cos(down) * z + Math.sin(down) * away, Math.sin(down) * z - Math.cos(down) * away];
}

/** @type {(place: Place, turn: [number, number]) => number[]} The place on the sphere that the viewer has there. */
function unturned([right, up, near], turn) {
  const [around, down] = turn.map((one) => one * DEGREE);
  const z = Math.cos(down) * up + Math.sin(down) * near;
  const away = Math.sin(down) * up - Math.cos(down) * near;
  return [Math.cos(around) * right + Math.sin(around) * away, Math.cos(around) * away - Math.sin(around) * right, z];
}

/**
 * The place of the circle, or on the front of the sphere, that is nearest to a place of the picture.
 * @type {(x: number, y: number, isCircle: boolean) => Place}
 */
function nearestOnFront(x, y, isCircle) {
  const far = Math.hypot(x, y);
  if (isCircle || far > 1) return [x / (far || 1), y / (far || 1), 0];
  return [x, y, Math.sqrt(1 - far * far)];
}

/**
 * A place that an arrow key pushes: along the circle, or across the picture of the sphere.
 * @type {(place: Place, across: number, up: number, isCircle: boolean) => Place}
 */
function pushed([x, y, near], across, up, isCircle) {
  if (isCircle) {
    const around = Math.atan2(y, x) - (across || up) * KEY_MOVE_RADIANS;
    return [Math.cos(around), Math.sin(around), 0];
  }
  const next = [x + across * KEY_MOVE_RADIANS, y + up * KEY_MOVE_RADIANS, near];
  const far = Math.hypot(...next);
  return [next[0] / far, next[1] / far, next[2] / far];
}
