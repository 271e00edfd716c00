"use strict";
/* What the page can do more with a script: readings, a logarithmic scale,
 * smoothing, curves taken away, trials pointed at.  Without it, it is whole. */
(function () {
	const WIDE = 2000, HIGH = 1000, TICKS = 6;
	const SVG = "http://www.w3.org/2000/svg";

	function make(name, classes, text) {
		const element = document.createElement(name);
		if (classes)
			element.className = classes;
		if (text !== undefined)
			element.textContent = text;
		return element;
	}

	function number(value) {
		if (!isFinite(value))
			return "-";
		if (value === 0)
			return "0";
		const size = Math.abs(value);
		if (size >= 1e5 && size < 1e15)
			return value.toFixed(0);
		return size < 1e-4 || size >= 1e15 ?
			value.toExponential(2) : String(Number(value.toPrecision(5)));
	}

	function duration(seconds) {
		const s = Math.round(seconds), two = (n) => String(n).padStart(2, "0");
		if (Math.abs(seconds) < 10)
			return number(seconds) + " s";
		return s < 3600 ? Math.floor(s / 60) + ":" + two(s % 60) :
			Math.floor(s / 3600) + ":" + two(Math.floor(s / 60) % 60) + ":" + two(s % 60);
	}

	function ticks(from, to) {
		const out = [];
		let step = Math.pow(10, Math.floor(Math.log10((to - from) / TICKS)));
		const rest = (to - from) / TICKS / step;
		step *= rest > 5 ? 10 : rest > 2 ? 5 : rest > 1 ? 2 : 1;
		for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9 && out.length < 12; i++)
			out.push(i * step);
		return out;
	}

	/* [step, ms, value]... as differences, to points. */
	function read(flat, steps) {
		const points = [], width = steps ? 3 : 2;
		let step = 0, ms = 0;
		for (let i = 0; i + width <= flat.length; i += width) {
			if (steps)
				step += flat[i];
			ms += flat[i + width - 2];
			points.push({ step: step, s: ms / 1000, y: flat[i + width - 1] });
		}
		return points;
	}

	function smooth(points, weight) {
		let mean = 0, share = 0;
		return points.map(function (p) {
			mean = mean * weight + (1 - weight) * p.y;
			share = share * weight + (1 - weight);
			return mean / share;
		});
	}

	class Chart {
		constructor(section) {
			this.section = section;
			this.steps = section.dataset.steps === "1";
			this.byStep = this.steps;
			this.area = section.querySelector(".area");
			this.lines = [...this.area.querySelectorAll(".curve")];
			const data = JSON.parse(section.querySelector(".data").textContent);
			this.curves = data.map((flat) => read(flat, this.steps));
			this.rows = [...section.querySelectorAll("tbody tr")];
			this.labels = this.rows.map((row) => row.querySelector("th").textContent.trim());
			this.shown = this.curves.map(() => true);
			this.log = false;
			this.weight = 0;
			this.tools();
			this.choices();
			this.pointer();
		}

		tool(text, input) {
			const label = make("label", "", text + " ");
			label.append(input);
			this.bar.append(label);
			return label;
		}

		tools() {
			const title = this.section.querySelector("h3").textContent;
			this.bar = make("div", "tools");
			this.bar.setAttribute("role", "group");
			this.bar.setAttribute("aria-label", "Settings of " + title);
			const log = make("input");
			log.type = "checkbox";
			log.disabled = !this.curves.some((c) => c.some((p) => p.y > 0));
			log.onchange = () => { this.log = log.checked; this.draw(); };
			this.tool("log scale", log);
			if (this.steps) {
				const time = make("input");
				time.type = "checkbox";
				time.onchange = () => { this.byStep = !time.checked; this.draw(); };
				this.tool("over time", time);
			}
			const range = make("input");
			range.type = "range";
			range.max = 99;
			range.value = 0;
			range.oninput = () => { this.weight = range.value / 100; this.draw(); };
			this.tool("smoothing", range);
			this.at = make("input");
			this.at.type = "range";
			this.at.max = 1000;
			this.at.value = 1000;
			this.at.oninput = () => this.readAt(this.at.value / 1000);
			this.tool("read at", this.at).className = "at";
			this.reading = make("p", "reading", "Point at the curves, or move 'read at', to read their values.");
			this.reading.setAttribute("aria-live", "polite");
			this.section.querySelector(".plot").after(this.bar, this.reading);
		}

		choices() {
			this.rows.forEach((row, i) => {
				const box = make("input");
				box.type = "checkbox";
				box.checked = true;
				box.setAttribute("aria-label", "show " + this.labels[i]);
				box.onchange = () => { this.shown[i] = box.checked; this.draw(); };
				row.querySelector("th").prepend(box, " ");
				const point = (on) => () => this.lines.forEach((line, k) => {
					line.classList.toggle("faint", on && k !== i);
					line.classList.toggle("strong", on && k === i);
				});
				row.onpointerenter = point(true);
				row.onpointerleave = point(false);
			});
		}

		x(p) { return this.byStep ? p.step : p.s; }
		y(value) { return this.log ? (value > 0 ? Math.log10(value) : NaN) : value; }

		draw() {
			const drawn = this.curves.map((c) => this.weight ? smooth(c, this.weight) : c.map((p) => p.y));
			let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
			this.drawn = drawn;
			this.curves.forEach((curve, i) => curve.forEach((p, k) => {
				const y = this.y(drawn[i][k]), x = this.x(p);
				if (!this.shown[i] || !isFinite(y))
					return;
				x0 = Math.min(x0, x); x1 = Math.max(x1, x);
				y0 = Math.min(y0, y); y1 = Math.max(y1, y);
			}));
			if (!(x1 > x0)) { x0 = isFinite(x0) ? x0 : 0; x1 = x0 + 1; }
			if (!(y1 > y0)) { y0 = isFinite(y0) ? y0 - 1 : 0; y1 = y0 + 2; }
			this.span = { x0, x1, y0, y1 };
			const tx = (x) => Math.round((x - x0) / (x1 - x0) * WIDE);
			const ty = (y) => Math.round((y1 - y) / (y1 - y0) * HIGH);
			this.lines.forEach((line, i) => {
				const points = [];
				if (this.shown[i])
					this.curves[i].forEach((p, k) => {
						const y = this.y(drawn[i][k]);
						if (isFinite(y))
							points.push(tx(this.x(p)) + "," + ty(y));
					});
				line.setAttribute("points", points.join(" "));
			});
			this.axes(tx, ty);
		}

		axes(tx, ty) {
			const { x0, x1, y0, y1 } = this.span;
			const ys = this.section.querySelector(".ys"), xs = this.section.querySelector(".xs");
			const grid = this.area.querySelector(".grid");
			ys.replaceChildren(); xs.replaceChildren(); grid.replaceChildren();
			ticks(y0, y1).forEach((y) => {
				const span = make("span", "", number(this.log ? Math.pow(10, y) : y));
				span.style.top = ty(y) * 100 / HIGH + "%";
				ys.append(span);
				const path = document.createElementNS(SVG, "path");
				path.setAttribute("d", "M0 " + ty(y) + "H" + WIDE);
				grid.append(path);
			});
			ticks(x0, x1).forEach((x) => {
				const span = make("span", "", this.byStep ? number(x) : duration(x));
				span.style.left = tx(x) * 100 / WIDE + "%";
				xs.append(span);
			});
			this.section.querySelector(".xname").textContent = this.byStep ? "step" : "time since the start";
		}

		pointer() {
			this.area.onpointermove = (event) => {
				const box = this.area.getBoundingClientRect();
				this.at.value = Math.round(1000 * (event.clientX - box.left) / box.width);
				this.readAt(this.at.value / 1000);
			};
			this.area.onpointerleave = () => this.lineAt(null);
		}

		lineAt(share) {
			if (this.cursor)
				this.cursor.remove();
			if (share === null)
				return;
			this.cursor = document.createElementNS(SVG, "path");
			this.cursor.setAttribute("class", "cursor");
			this.cursor.setAttribute("d", "M" + share * WIDE + " 0V" + HIGH);
			this.area.append(this.cursor);
		}

		readAt(share) {
			if (!this.span)
				this.draw();
			const x = this.span.x0 + share * (this.span.x1 - this.span.x0), found = [];
			this.curves.forEach((curve, i) => {
				if (!this.shown[i] || !curve.length)
					return;
				let from = 0, to = curve.length - 1;
				while (from < to) {
					const middle = (from + to) >> 1;
					if (this.x(curve[middle]) < x) from = middle + 1; else to = middle;
				}
				if (from && Math.abs(this.x(curve[from - 1]) - x) < Math.abs(this.x(curve[from]) - x))
					from--;
				/* A curve that has ended says nothing here. */
				if (Math.abs(this.x(curve[from]) - x) <= (this.span.x1 - this.span.x0) / 20)
					found.push([this.drawn[i][from], this.labels[i]]);
			});
			found.sort((a, b) => b[0] - a[0]);
			const more = found.length > 8 ? " … and " + (found.length - 8) + " more" : "";
			const where = this.byStep ? "step " + number(Math.round(x)) : duration(x);
			this.reading.textContent = where + ": " +
				(found.slice(0, 8).map((f) => f[1] + " " + number(f[0])).join(", ") || "nothing") + more;
			this.at.setAttribute("aria-valuetext", where);
			this.lineAt(share);
		}
	}

	document.querySelectorAll(".chart").forEach((section) => new Chart(section));

	document.querySelectorAll(".tuning").forEach((section) => {
		section.querySelectorAll("tr[data-trial]").forEach((row) => {
			const line = section.querySelector('.line[data-trial="' + row.dataset.trial + '"]');
			const point = (on) => () => line && line.classList.toggle("strong", on);
			row.onpointerenter = point(true);
			row.onpointerleave = point(false);
			if (line) {
				line.onpointerenter = () => row.classList.add("best");
				line.onpointerleave = () => row.classList.toggle("best", !!row.querySelector("th").textContent.includes("best"));
			}
		});
	});

	/* A link to a folded run unfolds it. */
	function unfold() {
		const target = location.hash && document.getElementById(location.hash.slice(1));
		if (target && target.tagName === "DETAILS")
			target.open = true;
	}
	addEventListener("hashchange", unfold);
	unfold();

	/* Paper has all of it. */
	addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
})();
