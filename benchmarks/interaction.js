// What the benchmark does inside the page. "Visible" is after the animation frame that follows the
// redraw has been laid out and painted: a message posted in that frame arrives then.
(() => {
  const page = window.lossprism.page() ?? window.lossprism.page("compare");
  const wait = (ms) => new Promise((done) => { setTimeout(done, ms); });
  const frame = () => new Promise((done) => { requestAnimationFrame(done); });
  const painted = async () => {
    await frame();
    const { port1, port2 } = new MessageChannel();
    await new Promise((done) => { port1.onmessage = done; port2.postMessage(0); });
    port1.close();
  };
  const track = () => document.querySelector("input[data-parameter=scale]");
  const slide = (place) => {
    track().value = place;
    track().dispatchEvent(new Event("input", { bubbles: true }));
  };
  const later = async (before) => { while (page.drawn <= before) await wait(0); };
  const still = async () => { while (page.flying || page.waiting) await wait(5); };

  return {
    async batch(pairs) {
      page.set({ loss: "cosent", data: { source: "random", random: { ...lossprism.pageData.defaults.data.random, pairs } } });
      await still();
      await wait(700);
    },

    async compared(pairs) {
      for (const section of ["side-0", "agreement", "matrices", "numbers", "formula"]) page.unfold(section, true);
      page.set({ data: { source: "random", random: { ...lossprism.pageData.defaults.data.random, pairs } } });
      await still();
      await wait(700);
    },

    // Milliseconds from an input event to the frame that shows its matrix, strip, bars and rows.
    async moves(count) {
      const times = [];
      for (let i = 0; i < count; i += 1) {
        const before = page.drawn;
        await frame();
        await wait((7 * i) % 16);  // a hand does not move in step with the screen
        const started = performance.now();
        slide(400 + 5 * i);
        await later(before);
        await painted();
        times.push(performance.now() - started);
        await still();
        await wait(20);
      }
      return times;
    },

    // Pictures a second while an input event comes with every frame.
    async drag(duration) {
      const [started, before] = [performance.now(), page.drawn];
      for (let i = 0; performance.now() - started < duration; i += 1) {
        slide(300 + (i % 400));
        await frame();
      }
      const rate = (1000 * (page.drawn - before)) / (performance.now() - started);
      await still();
      return rate;
    },

    // Pictures a second while a pointer drags the slider, once its range is here; milliseconds until that, and from
    // letting go to the exact picture.
    async scrub(duration) {
      slide(400);
      await still();
      const press = (kind) => track().dispatchEvent(new PointerEvent(kind, { bubbles: true }));
      const asked = performance.now();
      press("pointerdown");
      while (!page.leverRange.covers("scale")) await wait(5);
      const fetched = performance.now() - asked;
      const [started, before] = [performance.now(), page.drawn];
      for (let i = 0; performance.now() - started < duration; i += 1) {
        slide(300 + (i % 400));
        await frame();
      }
      const rate = (1000 * (page.drawn - before)) / (performance.now() - started);
      const [released, drawn] = [performance.now(), page.drawn];
      press("pointerup");
      await later(drawn);
      return { rate, fetched, exact: performance.now() - released };
    },

    // Milliseconds of one mouse move over the matrix: bands, card with formula, bars, tables.
    async hover(count) {
      const canvas = document.querySelector("#main-matrix .lp-stage canvas");
      const box = canvas.getBoundingClientRect();
      const times = [];
      for (let i = 0; i < count; i += 1) {
        const [x, y] = [(0.37 * i) % 1, (0.61 * i) % 1];
        const started = performance.now();
        canvas.dispatchEvent(new PointerEvent("pointermove", {
          bubbles: true, clientX: box.left + x * box.width, clientY: box.top + y * box.height,
        }));
        times.push(performance.now() - started);
        await frame();
      }
      return times;
    },

    async updates(count) {
      for (let i = 0; i < count; i += 1) {
        const before = page.drawn;
        slide(300 + (i % 400));
        await later(before);
      }
      await still();
    },
  };
})()
