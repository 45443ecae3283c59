//! Special functions: reference digits in every number type, identities, limits. Their sample points are tested in
//! `rules`, as those of every other row.

use dualpack::{Dual, Dual2, HyperDual, Real};
use serde_json::Value;

use crate::support::numbers::{excess, finite_or_special, number};

type D1 = Dual<f64, 1>;
type D2 = Dual<D1, 1>;
type D3 = Dual<D2, 1>;
type H = HyperDual<f64, 1, 1>;

/// A function in the types through which three derivatives are read.
struct Function {
    name: String,
    f64: fn(f64) -> f64,
    triple: fn(D3) -> D3,
    inner: fn(HyperDual<D1, 1, 1>) -> HyperDual<D1, 1, 1>,
    outer: fn(Dual<H, 1>) -> Dual<H, 1>,
    symmetric: fn(Dual2<D1, 1>) -> Dual2<D1, 1>,
}

macro_rules! function {
    ($name:ident ( $($n:expr)? )) => {
        Function {
            name: format!("{}({})", stringify!($name), stringify!($($n)?)),
            f64: |x| Real::$name(x $(, $n)?),
            triple: |x| x.$name($($n)?),
            inner: |x| x.$name($($n)?),
            outer: |x| x.$name($($n)?),
            symmetric: |x| x.$name($($n)?),
        }
    };
}

/// Functions that floats have from nalgebra, without the limits at infinity.
macro_rules! cardinal {
    ($name:ident) => {
        Function {
            name: stringify!($name).into(),
            f64: |x| D1::constant(x).$name().value,
            triple: |x| x.$name(),
            inner: |x| x.$name(),
            outer: |x| x.$name(),
            symmetric: |x| x.$name(),
        }
    };
}

/// x, moving with speed 1 at every level.
fn triple(x: f64) -> D3 {
    D3::variable(D2::variable(D1::variable(x, 0), 0), 0)
}

impl Function {
    /// `(road, k, k-th derivative)` for the ways to read the first four.
    fn derivatives(&self, x: f64) -> Vec<(&'static str, usize, f64)> {
        let d = D1::variable(x, 0);
        let (zero, one) = (D1::constant(0.0), D1::constant(1.0));
        let t = (self.triple)(triple(x));
        let i = (self.inner)(HyperDual::new(d, [one], [one], [[zero]]));
        let o = (self.outer)(Dual::variable(H::new(x, [1.0], [1.0], [[0.0]]), 0));
        let s = (self.symmetric)(Dual2::variable(d, 0));
        vec![
            ("f64", 0, (self.f64)(x)),
            ("Dual<Dual<Dual>>", 0, t.value.value.value),
            ("Dual<Dual<Dual>>", 1, t.value.value.eps[0]),
            ("Dual<Dual<Dual>>", 2, t.eps[0].eps[0].value),
            ("Dual<Dual<Dual>>", 3, t.eps[0].eps[0].eps[0]),
            ("HyperDual<Dual>", 1, i.eps1[0].value),
            ("HyperDual<Dual>", 2, i.eps12[0][0].value),
            ("HyperDual<Dual>", 2, i.eps1[0].eps[0]),
            ("HyperDual<Dual>", 3, i.eps12[0][0].eps[0]),
            ("Dual<HyperDual>", 1, o.eps[0].value),
            ("Dual<HyperDual>", 2, o.value.eps12[0][0]),
            ("Dual<HyperDual>", 3, o.eps[0].eps12[0][0]),
            ("Dual2<Dual>", 1, s.grad[0].value),
            ("Dual2<Dual>", 2, s.hessian(0, 0).value),
            ("Dual2<Dual>", 3, s.hessian(0, 0).eps[0]),
        ]
    }

    /// `None`: the derivative does not exist, and no finite number may pretend that it does.
    #[track_caller]
    fn assert(&self, x: f64, want: [Option<f64>; 4], tolerance: [f64; 4], scale: f64) {
        for (road, k, got) in self.derivatives(x) {
            let Some(want) = want[k] else {
                assert!(!got.is_finite(), "{}: derivative {k} at {x:e} through {road} is {got:e}", self.name);
                continue;
            };
            let excess = excess(got, want, tolerance[k], scale);
            assert!(
                excess <= 1.0,
                "{}: derivative {k} at {x:e} through {road} is {got:e}, not {want:e} ({excess:.1} tolerances)",
                self.name
            );
        }
    }
}

#[test]
fn reference_digits_through_every_type() {
    let functions = [
        function!(erf()),
        function!(erfc()),
        function!(gamma()),
        function!(lgamma()),
        function!(digamma()),
        function!(sph_j0()),
        function!(sph_j1()),
        function!(sph_j2()),
        function!(bessel_j0()),
        function!(bessel_j1()),
        function!(bessel_j2()),
        function!(logistic()),
        function!(softplus()),
        function!(sinc_pi()),
        cardinal!(sinc),
    ];
    let data: Value = serde_json::from_str(include_str!("../data/oracle/scalar.json")).unwrap();
    let cases = data["cases"].as_array().unwrap();
    for function in &functions {
        let name = function.name.trim_end_matches("()");
        let mine: Vec<_> = cases.iter().filter(|case| case["op"] == name).collect();
        assert!(mine.len() >= 10, "{name} has {} reference cases", mine.len());
        for case in mine {
            let want = [&case["value"], &case["d"][0], &case["d"][1], &case["d"][2]].map(number);
            let tolerance = [0, 1, 2, 3].map(|k| finite_or_special(&case["tol_hint"][k]));
            let scale = case["abs_scale"].as_f64().unwrap_or(0.0);
            function.assert(finite_or_special(&case["x"][0]), want, tolerance, scale);
        }
    }
}

/// 60-digit arithmetic, rounded; at none of these points does a derivative nearly vanish.
#[test]
fn digits_of_the_functions_with_an_order() {
    macro_rules! digits {
        ($name:ident ( $($n:expr)? ), $x:expr => $want:expr) => {
            function!($name($($n)?)).assert($x, $want.map(Some), [1e-14, 2e-14, 5e-14, 1e-13], 0.0)
        };
    }
    digits!(bessel_y0(), 0.05 => [-1.9793110008172097, 12.78985517117497, -253.81779242268217, 10179.508061752456]);
    digits!(bessel_y0(), 2.0 => [0.5103756726497451, 0.10703243154093754, -0.5638918884202139, 0.2016716205544038]);
    digits!(bessel_y0(), 30.5 => [-0.14315731617410765, -0.017046142883876455, 0.14371620610472655, 0.012315811866324144]);
    digits!(bessel_y1(), 0.05 => [-12.78985517117497, 253.81779242268217, -10179.508061752456, 611028.2601195716]);
    digits!(bessel_y1(), 2.0 => [-0.10703243154093754, 0.5638918884202139, -0.2016716205544038, -0.15435202604767068]);
    digits!(bessel_y1(), 30.5 => [0.017046142883876455, -0.14371620610472655, -0.012315811866324144, 0.1438098175746026]);
    digits!(bessel_yn(3), 0.25 => [-328.51619572415996, 3921.493079880327, -62663.788308076175, 1252623.210407509]);
    digits!(bessel_yn(3), 2.0 => [-1.1277837768404277, 1.074267561069959, -1.9468635015855142, 5.122346590288658]);
    digits!(bessel_yn(3), 30.5 => [0.0018751811863327854, 0.14409065198423074, -0.006581322820132348, -0.14232711508388174]);
    digits!(bessel_jn(5), -0.25 => [-2.5365161587472413e-07, 5.067745941623732e-06, -8.093601096752001e-05, 0.0009676853511046511]);
    digits!(bessel_jn(5), 2.0 => [0.007039629755871685, 0.01639664541788922, 0.028759733509381737, 0.03180399706950181]);
    digits!(bessel_jn(5), 30.5 => [-0.13994926793930187, 0.04144808435424771, 0.1348292482980365, -0.04446363592691203]);
    digits!(bessel_jn(-3), 0.75 => [-0.008484383423274108, -0.033136463606554124, -0.08308379987370614, -0.08317746350754898]);
    digits!(bessel_jn(-3), 9.5 => [0.06531531321534383, -0.2485050425464846, -0.03264344924714773, 0.22303476013186188]);
    digits!(sph_jn(7), 0.25 => [3.005540212533111e-11, 8.411091827469733e-10, 2.0170711440195558e-08, 4.029053984505064e-07]);
    digits!(sph_jn(7), 5.5 => [0.029429491766763245, 0.026853756928397064, 0.015286548323364822, -0.0007355948925286446]);
    digits!(sph_jn(7), -30.5 => [-0.03329815539501874, -0.0013286921641030831, 0.031206516669803654, 0.003160735354383476]);
    digits!(sph_yn(2), 0.25 => [-194.03092532581832, 2311.8788893254314, -36927.96902055619, 738048.1217590078]);
    digits!(sph_yn(2), 5.5 => [0.18604157308098151, 0.0033757375375107535, -0.15036830611988167, 0.03877792794667578]);
    digits!(sph_yn(2), 30.5 => [0.022462436812066573, 0.023140028872923137, -0.023834935753615522, -0.02138758207701158]);
    digits!(sph_in(3), 0.25 => [0.00014932695808186756, 0.0017960688521660145, 0.014451552092472324, 0.05913686738382609]);
    digits!(sph_in(3), -5.5 => [-7.003652809599316, 7.2231482152474635, -7.155362011168562, 6.953849002432876]);
    digits!(sph_in(3), 60.0 => [8.604047574080088e+23, 8.475219271309215e+23, 8.350220423616716e+23, 8.228881771291073e+23]);
    digits!(sph_jn_pi(2), 0.125 => [0.010168076576949089, 0.16089276929838897, 1.2299022034397566, -1.3619478470069961]);
    digits!(sph_jn_pi(2), 1.0 => [0.3039635509270133, 0.08810934721896006, -1.3524373888758403, -1.1074174567101576]);
    digits!(sph_jn_pi(2), 20.25 => [-0.01163092816054082, -0.03264686323239861, 0.11784685855355084, 0.30995232243294585]);
    digits!(polygamma(1), 0.25 => [17.19732915450711, -129.32773993753693, 1538.7821440091884, -24584.375388637935]);
    digits!(polygamma(1), -3.75 => [19.504980060599575, -124.07972713378925, 1558.5200920240343, -24481.592377214743]);
    digits!(polygamma(1), 40.0 => [0.02531510384129103, -0.0006408202718352986, 3.24414001515635e-05, -2.463377839277213e-06]);
    digits!(polygamma(4), 0.25 => [-24584.375388637935, 491552.5137676813, -11796633.687743692, 330302293.70901346]);
    digits!(polygamma(4), -3.75 => [-24481.592377214743, 492231.25090337615, -11791224.779829886, 330352695.8300226]);
    digits!(polygamma(4), 40.0 => [-2.463377839277213e-06, 2.4938943509996704e-07, -3.155817955236394e-08, 4.7918581244276835e-09]);
    digits!(polygamma(20), 0.25 => [-1.070001618891921e+31, 8.988013598692121e+32, -7.909451966849064e+34, 7.276695809501138e+36]);
    digits!(polygamma(20), 2.5 => [-10709198259.124132, 89935164670.30507, -791290781089.1704, 7278965213297.505]);
    digits!(polygamma(20), 40.0 => [-1.4070197752355848e-15, 7.116220997657601e-16, -3.778898298796049e-16, 2.1021400966475062e-16]);
    digits!(gaussian_derivative(3), 0.25 => [2.700812555588743, 8.513430881747125, -25.863215885583504, -72.2027008746795]);
    digits!(gaussian_derivative(3), -3.75 => [0.0002943955070754755, 0.001953702322825755, 0.01229760336458936, 0.07269500200616263]);
    digits!(gaussian_derivative(3), 26.0 => [-3.6641692214110783e-289, 1.901133839390367e-287, -9.85658261105862e-286, 5.106411619356579e-284]);
    digits!(logistic_density(), -40.0 => [4.248354255291589e-18, 4.248354255291589e-18, 4.248354255291589e-18, 4.248354255291589e-18]);
    digits!(logistic_density(), 0.25 => [0.24613408273759835, -0.030607512026718776, -0.11735783737287511, 0.05979511074419845]);
    digits!(logistic_density(), 700.0 => [9.85967654375977e-305, -9.85967654375977e-305, 9.85967654375977e-305, -9.85967654375977e-305]);
}

#[test]
fn digits_of_the_cardinal_functions() {
    macro_rules! digits {
        ($name:ident(), $x:expr => $want:expr) => {
            cardinal!($name).assert($x, $want.map(Some), [1e-15, 2e-15, 4e-15, 1e-14], 0.0)
        };
    }
    digits!(sinhc(), 1e-05 => [1.0000000000166667, 3.333333333366667e-06, 0.3333333333433333, 2.0000000000238096e-06]);
    digits!(sinhc(), -2.5 => [2.420081792415915, -1.4848830748991084, 1.2321753324966283, -0.9743053928695207]);
    digits!(sinhc(), 700.0 => [7.244514676678603e+300, 7.234165369997634e+300, 7.223845632764325e+300, 7.213555338252471e+300]);
    digits!(cosc(), 1e-05 => [99999.99999499999, -10000000000.499998, 1999999999999999.5, -5.999999999999999e+20]);
    digits!(cosc(), -2.5 => [0.3204574462187735, -0.1112058791540732, -0.40942214954203204, -0.25191772180885585]);
    digits!(cosc(), 90.0 => [-0.004978595734768557, -0.009877978531842104, 0.005198106368809493, 0.009760026049934771]);
    digits!(coshc(), 1e-05 => [100000.000005, -9999999999.499998, 1999999999999999.5, -5.999999999999999e+20]);
    digits!(coshc(), -2.5 => [-2.4529157918654745, 1.438915475669725, -1.3017834113296942, 0.8579416988202817]);
    digits!(coshc(), 700.0 => [7.244514676678603e+300, 7.234165369997634e+300, 7.223845632764325e+300, 7.213555338252471e+300]);
    // Beyond the overflow of sinh and cosh.
    let [a, b, c, d] =
        [1.1592073491493218e306, 1.1575792489398425e306, 1.1559557220455582e306, 1.1543367491968827e306];
    digits!(sinhc(), 712.0 => [a, b, c, d]);
    digits!(coshc(), -712.0 => [-a, b, -c, d]);
}

#[test]
fn limits_at_infinities_and_poles() {
    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;
    let limit = |f: Function, x: f64, want: [f64; 4]| f.assert(x, want.map(Some), [1e-15; 4], 0.0);
    for f in [function!(gamma()), function!(digamma()), function!(polygamma(2))] {
        limit(f, -INF, [NAN; 4]);
    }
    limit(function!(gamma()), INF, [INF; 4]);
    limit(function!(gamma()), 1e300, [INF; 4]);
    limit(function!(gamma()), 1e-300, [1e300, -INF, INF, -INF]);
    limit(function!(gamma()), -3.0, [NAN; 4]);
    limit(function!(lgamma()), INF, [INF, INF, 0.0, 0.0]);
    limit(function!(lgamma()), -3.0, [INF, NAN, INF, NAN]);
    limit(function!(digamma()), INF, [INF, 0.0, 0.0, 0.0]);
    limit(function!(digamma()), 0.0, [-INF, INF, -INF, INF]);
    limit(function!(digamma()), -0.0, [INF; 4]);
    limit(function!(digamma()), -3.0, [NAN; 4]);
    limit(function!(polygamma(4)), 0.0, [-INF, INF, -INF, INF]);
    for sign in [1.0, -1.0] {
        for f in [
            function!(sph_jn(3)),
            function!(sph_jn_pi(3)),
            function!(sph_yn(3)),
            function!(bessel_jn(3)),
            function!(sinc_pi()),
            function!(gaussian_derivative(3)),
            cardinal!(sinc),
            cardinal!(cosc),
        ] {
            limit(f, sign * INF, [0.0; 4]);
        }
        limit(cardinal!(sinhc), sign * INF, [INF, sign * INF, INF, sign * INF]);
        limit(cardinal!(coshc), sign * INF, [sign * INF, INF, sign * INF, INF]);
        limit(cardinal!(cosc), sign * 0.0, [sign * INF, -INF, sign * INF, -INF]);
        limit(cardinal!(coshc), sign * 0.0, [sign * INF, -INF, sign * INF, -INF]);
    }
    for f in [function!(bessel_y0()), function!(bessel_y1()), function!(bessel_yn(4))] {
        limit(f, 0.0, [-INF, INF, -INF, INF]);
    }
    limit(function!(bessel_yn(-3)), 0.0, [INF, -INF, INF, -INF]);
    limit(function!(bessel_yn(4)), INF, [0.0; 4]);
    limit(function!(bessel_y0()), -1.0, [NAN; 4]);
    limit(function!(logistic()), INF, [1.0, 0.0, 0.0, 0.0]);
    limit(function!(softplus()), INF, [INF, 1.0, 0.0, 0.0]);
}

#[test]
fn constants_stay_constant_at_poles() {
    let zero = Dual::<f64, 2>::new(0.0, [0.0, 1.0]);
    for y in [zero.gamma(), zero.lgamma(), zero.digamma(), zero.bessel_y0(), zero.sph_yn(2), zero.coshc()] {
        assert!(y.value.is_infinite(), "{y:?}");
        assert_eq!(y.eps[0], 0.0, "{y:?}");
        assert!(y.eps[1].is_infinite(), "{y:?}");
    }
}

#[test]
fn single_precision_is_the_rounded_double() {
    for x in [0.3_f32, 1.7, 12.5] {
        let wide = f64::from(x);
        assert_eq!(Real::gamma(x), Real::gamma(wide) as f32);
        assert_eq!(Real::digamma(x), Real::digamma(wide) as f32);
        assert_eq!(Real::erfc(x), Real::erfc(wide) as f32);
        assert_eq!(Real::bessel_yn(x, 3), Real::bessel_yn(wide, 3) as f32);
        let (y, w) = (Dual::<f32>::variable(x, 0).lgamma(), Dual::<f64>::variable(wide, 0).lgamma());
        assert_eq!(y.eps[0], w.eps[0] as f32);
    }
}

/// The sum of the terms is zero in all eight parts, relative to the largest term of the same order.
#[track_caller]
fn assert_zero_sum(what: &str, x: f64, terms: &[D3]) {
    let orders = |y: &D3| {
        let (a, b) = (y.value, y.eps[0]);
        [
            vec![a.value.value],
            vec![a.value.eps[0], a.eps[0].value, b.value.value],
            vec![a.eps[0].eps[0], b.value.eps[0], b.eps[0].value],
            vec![b.eps[0].eps[0]],
        ]
    };
    for k in 0..4 {
        let parts: Vec<_> = terms.iter().map(|t| orders(t)[k].clone()).collect();
        let size = parts.iter().flatten().fold(0.0_f64, |m, v| m.max(v.abs()));
        for i in 0..parts[0].len() {
            let sum: f64 = parts.iter().map(|p| p[i]).sum();
            assert!(sum.abs() <= 1e-13 * size, "{what} at {x}: order {k} leaves {sum:e} of {size:e}");
        }
    }
}

fn constant(c: f64) -> D3 {
    D3::from_base(c)
}

#[test]
fn error_functions_and_logistic_functions_are_symmetric() {
    for x in [-30.0, -3.0, -0.4, 0.0, 1e-9, 0.7, 2.0, 5.0] {
        let t = triple(x);
        assert_zero_sum("erf + erfc = 1", x, &[t.erf(), t.erfc(), constant(-1.0)]);
        assert_zero_sum("erfc(x) + erfc(-x) = 2", x, &[t.erfc(), (-t).erfc(), constant(-2.0)]);
        assert_zero_sum("s(x) + s(-x) = 1", x, &[t.logistic(), (-t).logistic(), constant(-1.0)]);
        assert_zero_sum(
            "s(x) = (1 + tanh(x/2))/2",
            x,
            &[t.logistic(), -(t * 0.5).tanh() * 0.5, constant(-0.5)],
        );
        assert_zero_sum("softplus(x) - softplus(-x) = x", x, &[t.softplus(), -(-t).softplus(), -t]);
    }
}

#[test]
fn gamma_functions_recur_and_reflect() {
    for x in [-7.3, -2.75, -0.6, 0.1, 0.9, 1.6, 3.25, 9.75, 14.4] {
        let t = triple(x);
        let pi = std::f64::consts::PI;
        assert_zero_sum("G(x + 1) = x G(x)", x, &[(t + 1.0).gamma(), -(t * t.gamma())]);
        let ln = t.abs().ln();
        assert_zero_sum("ln|G(x + 1)| = ln|G(x)| + ln|x|", x, &[(t + 1.0).lgamma(), -t.lgamma(), -ln]);
        assert_zero_sum("psi(x + 1) = psi(x) + 1/x", x, &[(t + 1.0).digamma(), -t.digamma(), -t.recip()]);
        let reflected = [t.lgamma(), (-t + 1.0).lgamma(), (t * pi).sin().abs().ln(), constant(-pi.ln())];
        assert_zero_sum("G(x) G(1 - x) sin(pi x) = pi", x, &reflected);
        if x > 0.0 {
            assert_zero_sum("G(x) = exp(ln|G(x)|)", x, &[t.gamma(), -t.lgamma().exp()]);
        }
        let halves = [(t * 2.0).digamma(), -t.digamma() * 0.5, -(t + 0.5).digamma() * 0.5];
        let terms = [halves[0], halves[1], halves[2], constant(-std::f64::consts::LN_2)];
        assert_zero_sum("psi(2x) = (psi(x) + psi(x + 1/2))/2 + ln 2", x, &terms);
    }
}

#[test]
fn bessel_functions_have_their_wronskians() {
    for x in [0.05, 0.9, 2.0, 4.5, 11.0, 40.0] {
        let t = triple(x);
        for n in 0..5 {
            let (a, b) = (t.bessel_jn(n + 1) * t.bessel_yn(n), t.bessel_jn(n) * t.bessel_yn(n + 1));
            let right = (t * std::f64::consts::PI).recip() * 2.0;
            assert_zero_sum("J_n+1 Y_n - J_n Y_n+1 = 2/(pi x)", x, &[a, -b, -right]);
            let n = n as u32;
            let (a, b) = (t.sph_jn(n + 1) * t.sph_yn(n), t.sph_jn(n) * t.sph_yn(n + 1));
            let right = (t * t).recip();
            assert_zero_sum("j_n+1 y_n - j_n y_n+1 = 1/x^2", x, &[a, -b, -right]);
        }
    }
}

#[test]
fn bessel_functions_sum_to_the_exponential() {
    for x in [0.0, 1e-6, 0.4, 3.0, 9.0] {
        let t = triple(x);
        // e^x = sum of (2n + 1) i_n(x), 1 = sum of (2n + 1) j_n(x)^2, 1 = J_0(x) + 2 sum of J_2n(x)
        let mut exponential = vec![-t.exp()];
        let mut squares = vec![constant(-1.0)];
        let mut even = vec![constant(-1.0), t.bessel_j0()];
        for n in 0..60_u32 {
            exponential.push(t.sph_in(n) * f64::from(2 * n + 1));
            squares.push(t.sph_jn(n) * t.sph_jn(n) * f64::from(2 * n + 1));
            even.push(t.bessel_jn(2 * n as i32 + 2) * 2.0);
        }
        assert_zero_sum("sum (2n + 1) i_n", x, &exponential);
        assert_zero_sum("sum (2n + 1) j_n^2", x, &squares);
        assert_zero_sum("J_0 + 2 sum J_2n", x, &even);
    }
}

#[test]
fn cardinal_functions_double_their_argument() {
    for x in [-7.125, -0.4, 0.0, 1e-7, 0.3, 0.9, 1.1, 6.0] {
        let t = triple(x);
        let twice = t * 2.0;
        assert_zero_sum("sinc(2x) = sinc(x) cos(x)", x, &[twice.sinc(), -(t.sinc() * t.cos())]);
        assert_zero_sum("sinhc(2x) = sinhc(x) cosh(x)", x, &[twice.sinhc(), -(t.sinhc() * t.cosh())]);
        let cosine = (t * std::f64::consts::PI).cos();
        assert_zero_sum("sinc_pi(2x) = sinc_pi(x) cos(pi x)", x, &[twice.sinc_pi(), -(t.sinc_pi() * cosine)]);
        assert_zero_sum("j_0 = sinc", x, &[t.sph_j0(), -t.sinc()]);
        if x != 0.0 {
            assert_zero_sum("cosc(x) = cos(x)/x", x, &[t.cosc(), -(t.cos() / t)]);
            assert_zero_sum("coshc(x) = cosh(x)/x", x, &[t.coshc(), -(t.cosh() / t)]);
        }
    }
    for n in 1..30 {
        assert_eq!(Real::sinc_pi(f64::from(n)), 0.0);
    }
}

/// The derivatives of the largest orders ask for orders above: there are none, and nothing overflows.
#[test]
fn the_largest_orders() {
    let x = HyperDual::<f64>::variable(1.0, 0, 0);
    let far = HyperDual::<f64>::variable(40.0, 0, 0);
    for n in [u32::MAX - 2, u32::MAX - 1, u32::MAX] {
        for y in [far.gaussian_derivative(n), x.sph_jn(n), x.sph_in(n), x.sph_jn_pi(n)] {
            assert_eq!((y.value, y.eps1[0], y.eps12[0][0]), (0.0, 0.0, 0.0), "{n}");
        }
        let y = x.sph_yn(n);
        assert!(y.value.is_infinite() && !y.eps1[0].is_finite(), "{n}: {y}");
    }
}

/// Hermite polynomials beyond the range: their signs are those of exact integer arithmetic.
#[test]
fn derivatives_of_the_gaussian_of_orders_that_overflow() {
    for (n, sign) in [(250, -1.0), (270, -1.0), (300, 1.0), (301, 1.0)] {
        let y = Dual::<f64>::variable(0.5, 0).gaussian_derivative(n);
        assert_eq!(y.value.signum(), sign, "{n}: {y}");
        assert_eq!(y.value.is_infinite(), n >= 270, "{n}: {y}");
        assert!(!y.eps[0].is_nan(), "{n}: {y}");
    }
}

/// n!/x^(n+1) underflows where the polygamma function, (n-1)!/x^n, does not.
#[test]
fn polygamma_functions_of_large_arguments() {
    for (x, n, want) in [(1e200_f64, 1, 1e-200), (1e73, 4, -6e-292), (1e150, 2, -1e-300), (1e307, 1, 1e-307)]
    {
        let y = Real::polygamma(x, n);
        assert!((y / want - 1.0).abs() < 1e-13, "{n} {x:e}: {y:e}");
    }
}
